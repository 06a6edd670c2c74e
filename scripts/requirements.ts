/** `npm run requirements`: which requirement is shown by which test, and what keeps a closed area from being so. */
import { main } from "@fairlead/conformance/requirements"
import { projects } from "../vitest.workspace.ts"

main(process.argv.slice(2), projects)
