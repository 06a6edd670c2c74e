/**
 * The official SDK over stdio.
 */
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { makeServer } from "./sdkTools.ts"

serveStdio(makeServer)
