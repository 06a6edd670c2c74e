import { ask, type Question } from "./Question.ts"

const guides = "effect/ai-docs/src"
const client = "@modelcontextprotocol/client"

/** Questions that were written before the ranking was looked at, and not asked while it was tuned. */
export const heldOut: ReadonlyArray<Question> = [
  ask("turn a callback style api into an effect", [
    "effect/Effect# callback effectify",
    `${guides}/01_effect/01_basics/10_creating-effects.ts`
  ]),
  ask("pick a random element of a list", ["effect/Random#choice"]),
  ask("process every item and keep going when some of them fail", [
    "effect/Effect# partition validate all result exit"
  ]),
  ask("get null instead of an Option when there is no value", ["effect/Option#getOrNull"]),
  ask("get notified when a shared value changes", [
    "effect/SubscriptionRef",
    "effect/SubscriptionRef# SubscriptionRef changes make",
    "effect/TxSubscriptionRef",
    "effect/TxSubscriptionRef# TxSubscriptionRef changes changesStream make"
  ]),
  ask("stop a stream when something else happens", ["effect/Stream# interruptWhen haltWhen"]),
  ask("compare two objects by their contents", [
    "effect/Equal",
    "effect/Equal# equals asEquivalence",
    "effect/Equivalence# Struct Record",
    "effect/Data#Class",
    "@types/node/util#isDeepStrictEqual",
    "@types/node/assert#assert. deepEqual deepStrictEqual"
  ]),
  ask("store key value pairs that survive a restart", [
    "effect/persistence/KeyValueStore",
    "effect/persistence/KeyValueStore# KeyValueStore layerFileSystem layerSql layerStorage"
  ]),
  ask("add days to a date", [
    "effect/DateTime# add addDuration",
    `${guides}/07_datetime/10_creating-and-formatting.ts`
  ]),
  ask("starting a new task for the same key should cancel the old one", [
    "effect/FiberMap",
    "effect/FiberMap# FiberMap make run set makeRuntime"
  ]),
  ask("vitest run something before every test", ["vitest# beforeEach aroundEach"]),
  ask("undici set a timeout for the response", [
    "undici/docs/docs/getting-started.md#timeouts",
    "undici/docs/docs/api/Errors.md# timeout-related-errors configuring-timeouts-for-fetch",
    "undici/docs/docs/api/Client.md#new-clienturl-options",
    "undici/docs/docs/api/Dispatcher.md#dispatcherdispatchoptions-handler",
    "undici#Client.Options",
    "undici#Client.Options. headersTimeout bodyTimeout",
    "undici#Dispatcher.DispatchOptions",
    "undici#Dispatcher.DispatchOptions. headersTimeout bodyTimeout"
  ]),
  ask("ajv reference another schema", ["ajv#Ajv.addSchema", "ajv/README.md#features"]),
  ask("fast-check test a stateful system with random commands", [
    "fast-check# commands modelRun asyncModelRun scheduledModelRun ICommand Command AsyncCommand"
  ]),
  ask("MCP client let the server ask the user for input", [
    `${client}# Client Protocol.setRequestHandler ClientOptions.inputRequired`
  ])
]
