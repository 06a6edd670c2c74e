/**
 * The definition of the tool that is called, for Fairlead's servers and clients.
 */
import { Tool } from "@fairlead/protocol"
import * as Schema from "effect/Schema"

/** Input and output of most tools. */
export const Text = Schema.Struct({ text: Schema.String })

/** A tool that gives its text back. */
export const echoTool = <Name extends string>(name: Name) =>
  Tool.make(name, { description: "Gives the text back.", input: Text, output: Text })

export const Echo = echoTool("echo")
