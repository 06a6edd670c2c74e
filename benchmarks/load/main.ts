/**
 * The load: a child that sends requests when it is told to.
 */
import { serve } from "../harness/agent.ts"
import { load } from "./RawHttp.ts"

serve({ run: load })
