import { fresh } from "./fresh.ts"
import { heldOut } from "./heldOut.ts"
import { ask, type Question } from "./Question.ts"

const guides = "effect/ai-docs/src"
const agents = "effect/AGENTS.md"
const undici = "undici/docs/docs"
const client = "@modelcontextprotocol/client"

const tuned: ReadonlyArray<Question> = [
  ask("how do I run an effect with a timeout", ["effect/Effect# timeout timeoutOption timeoutOrElse"]),
  ask("Schema optional with default", [
    "effect/Schema#with DecodingDefault DecodingDefaultKey DecodingDefaultType DecodingDefaultTypeKey",
    "effect/Schema#withConstructorDefault",
    "effect/SchemaGetter#withDefault",
    "effect/ai/McpSchema#optionalWithDefault"
  ]),
  ask("how to retry with exponential backoff", [
    "effect/Schedule",
    "effect/Schedule#exponential",
    "effect/Effect#retry",
    `${guides}/06_schedule/10_schedules.ts`
  ]),
  ask("read a config from environment variables", [
    "effect/ConfigProvider",
    "effect/ConfigProvider# fromEnv fromEnvRecord",
    "effect/Config"
  ]),
  ask("parse SSE stream", [
    "effect/encoding/Sse",
    "effect/encoding/Sse# decode decodeSchema decodeDataSchema makeParser",
    "eventsource-parser/README.md# usage stream-usage",
    "eventsource-parser#createParser",
    "eventsource-parser/stream",
    "eventsource-parser/stream#EventSourceParserStream"
  ]),
  ask("limit how many effects run at the same time", [
    "effect/Semaphore",
    "effect/Semaphore# make makeUnsafe Semaphore withPermits withPermit",
    "effect/PartitionedSemaphore",
    "effect/Effect# all forEach"
  ]),
  ask("release a resource when the program ends or is interrupted", [
    "effect/Effect# acquireRelease acquireUseRelease acquireDisposable addFinalizer ensuring onExit scoped",
    "effect/Scope",
    "effect/Scope# addFinalizer addFinalizerExit",
    `${guides}/01_effect/05_resources/10_acquire-release.ts`
  ]),
  ask("turn a promise that may reject into an effect", [
    "effect/Effect#tryPromise",
    `${guides}/01_effect/01_basics/10_creating-effects.ts`
  ]),
  ask("run two effects and take whichever finishes first", ["effect/Effect# race raceFirst raceAll raceAllFirst"]),
  ask("handle only errors with a specific tag", [
    "effect/Effect# catchTag catchTags",
    `${guides}/01_effect/04_errors/01_error-handling.ts`,
    `${guides}/01_effect/04_errors/10_catch-tags.ts`,
    `${agents}#error-handling-basics`
  ]),
  ask("start a background fiber that outlives its parent", ["effect/Effect# forkDetach forkIn"]),
  ask("decode a JSON string with a schema", [
    "effect/Schema#fromJsonString",
    "effect/SchemaTransformation#fromJsonString"
  ]),
  ask("hide a secret value from logs", [
    "effect/Redacted",
    "effect/Redacted# Redacted make",
    "effect/Redactable",
    "effect/Redactable#Redactable",
    "effect/Config#Redacted",
    "effect/cli/Flag#Redacted",
    "effect/cli/Param#Redacted",
    "effect/Schema# Redacted RedactedFromValue"
  ]),
  ask("remember the result of an effect for five minutes", [
    "effect/Effect# cachedWithTTL cachedInvalidateWithTTL",
    "effect/Cache",
    "effect/Cache# Cache make makeWith"
  ]),
  ask("queue with a maximum size where producers wait", [
    "effect/Queue",
    "effect/Queue# bounded make",
    "effect/TxQueue#bounded"
  ]),
  ask("broadcast messages to several subscribers", [
    "effect/PubSub",
    "effect/PubSub# PubSub bounded unbounded subscribe publish publishAll",
    "effect/TxPubSub",
    "effect/TxPubSub# TxPubSub publish publishAll subscribe",
    "effect/Stream# broadcast broadcastN toPubSub",
    `${guides}/01_effect/07_pubsub/10_pubsub.ts`,
    `${guides}/01_effect/07_pubsub/index.md#broadcasting-messages-with-pubsub`,
    `${agents}#broadcasting-messages-with-pubsub`
  ]),
  ask("batch stream elements by count or time window", ["effect/Stream# groupedWithin aggregateWithin"]),
  ask("only emit a stream element after things go quiet for a while", ["effect/Stream#debounce"]),
  ask("print logs as JSON", [
    "effect/Logger",
    "effect/Logger# consoleJson formatJson",
    `${guides}/08_observability/10_logging.ts`
  ]),
  ask("control the clock in tests so sleeping does not really wait", [
    "effect/testing/TestClock",
    "effect/testing/TestClock# TestClock adjust setTime layer TestClock.adjust TestClock.setTime",
    "effect/Clock#Clock",
    "@effect/vitest/README.md#using-the-testclock",
    `${guides}/09_testing/10_effect-tests.ts`
  ]),
  ask("share one database layer between many tests", [
    "@effect/vitest",
    "@effect/vitest#layer",
    `${guides}/09_testing/20_layer-tests.ts`
  ]),
  ask("start a subprocess and read its stdout", [
    "effect/process/ChildProcess",
    "effect/process/ChildProcess#make",
    `${guides}/60_child-process/10_working-with-child-processes.ts`,
    "@types/node/child_process# spawn exec execFile spawnSync execSync execFileSync ChildProcess ChildProcess.stdout"
  ]),
  ask("make an HTTP request and decode the response body with a schema", [
    "effect/http/HttpIncomingMessage#schemaBodyJson",
    "effect/http/HttpClientResponse#schemaJson",
    `${guides}/50_http-client/10_basics.ts`
  ]),
  ask("add a bearer token to an outgoing request", ["effect/http/HttpClientRequest#bearerToken"]),
  ask("command line flag with a default value", [
    "effect/cli/Flag# withDefault orElse withFallbackConfig",
    "effect/cli/Param# withDefault withFallbackConfig",
    `${guides}/70_cli/10_basics.ts`,
    "commander/Readme.md#default-option-value",
    "commander@14.0.3/Readme.md#default-option-value",
    "commander# Option.default Command.option"
  ]),
  ask("match on _tag and make sure every case is handled", [
    "effect/Match# exhaustive tagsExhaustive valueTags typeTags discriminatorsExhaustive tags"
  ]),
  ask("date in a time zone from an ISO string", [
    "effect/DateTime# makeZonedFromString makeZoned makeZonedUnsafe",
    "effect/Schema#DateTimeZonedFromString",
    `${guides}/07_datetime/20_time-zones.ts`
  ]),
  ask("watch a directory for file changes", [
    "effect/FileSystem# FileSystem FileSystem.watch WatchOptions",
    "@types/node/fs#watch",
    "@types/node/fs/promises#watch"
  ]),
  ask("count how often something happens and export it as a metric", [
    "effect/Metric",
    "effect/Metric# counter frequency Counter Frequency"
  ]),
  ask("run the main program on node and shut down on ctrl-c", [
    "@effect/platform-node/NodeRuntime",
    "@effect/platform-node/NodeRuntime#runMain",
    `${guides}/01_effect/06_running/10_run-main.ts`,
    `${guides}/01_effect/06_running/20_layer-launch.ts`,
    `${agents}#running-effect-programs`
  ]),
  ask("ajv add custom format", ["ajv# Ajv.addFormat Ajv Format FormatDefinition"]),
  ask("vitest run tests in parallel", [
    "vitest/node#InlineConfig. fileParallelism maxConcurrency maxWorkers",
    "vitest# TestOptions TestOptions.concurrent"
  ]),
  ask("mock a module in vitest", ["vitest# VitestUtils VitestUtils.mock VitestUtils.doMock vi"]),
  ask("fake timers in vitest tests", [
    "vitest# VitestUtils VitestUtils.useFakeTimers FakeTimersConfig vi",
    "vitest/node#InlineConfig.fakeTimers"
  ]),
  ask("undici connection pool", [
    `${undici}/api/Pool.md# pool new-poolurl-options`,
    `${undici}/api/BalancedPool.md# balancedpool new-balancedpoolupstreams-options`,
    `${undici}/api/RoundRobinPool.md# roundrobinpool new-roundrobinpoolurl-options example`,
    `${undici}/getting-started.md#pool--for-requests-to-a-single-origin`,
    `${undici}/best-practices/undici-vs-builtin-fetch.md#connection-pooling-and-dispatchers`,
    "undici# Pool Pool.Options BalancedPool RoundRobinPool"
  ]),
  ask("send requests through an http proxy with undici", [
    `${undici}/api/ ProxyAgent.md* EnvHttpProxyAgent.md*`,
    `${undici}/best-practices/proxy.md*`,
    "undici# ProxyAgent EnvHttpProxyAgent"
  ]),
  ask("intercept http requests in tests with undici", [
    `${undici}/api/ MockAgent.md* MockPool.md* MockClient.md* SnapshotAgent.md*`,
    `${undici}/best-practices/mocking-request.md*`,
    "undici# MockAgent MockPool MockClient"
  ]),
  ask("generate random arrays without duplicates for property tests", ["fast-check# uniqueArray set"]),
  ask("fast-check replay a failing case with a seed", ["fast-check# Parameters Parameters.seed Parameters.path"]),
  ask("MCP client connect to a server over stdio", [
    `${client}/stdio`,
    `${client}/stdio#StdioClientTransport`,
    `${client}# Client.connect Client`,
    "effect/ai/McpClient# layerStdio stdio"
  ]),
  ask("call a tool on the MCP server from the client", [
    `${client}# Client.callTool Client`,
    "effect/ai/McpClient# McpClient McpClient.callTool"
  ]),
  ask("commander option that must be given", [
    "commander/Readme.md#required-option",
    "commander@14.0.3/Readme.md#required-option",
    "commander# Command.requiredOption Option.makeOptionMandatory"
  ]),
  ask("wait until another fiber sets a value", [
    "effect/Deferred",
    "effect/Deferred# Deferred await make succeed complete",
    "effect/Effect#txRetry",
    "effect/TxDeferred",
    "effect/TxDeferred# TxDeferred await"
  ]),
  ask("repeat an effect every night with a cron expression", [
    "effect/Schedule#cron"
  ]),
  ask("check that a string matches a regular expression", [
    "effect/Schema#isPattern",
    "effect/SchemaAST#isPattern",
    "effect/String#match",
    "@types/node/assert#assert.match",
    "vitest#JestAssertion.toMatch"
  ]),
  ask("provide a fake implementation of a service in a test", [
    "effect/Layer# mock succeed",
    "effect/Effect#provideService",
    `${guides}/09_testing/20_layer-tests.ts`
  ]),
  ask("add up all the numbers of a stream", ["effect/Stream# runSum runFold", "effect/Sink# sum reduce fold"]),
  ask("split incoming text into lines", [
    "effect/Stream#splitLines",
    "effect/Channel#splitLines",
    "effect/String# linesIterator linesWithSeparators",
    "@types/node/readline# createInterface Interface"
  ]),
  ask("combine many requests to a backend into one batch", [
    "effect/RequestResolver",
    "effect/RequestResolver# RequestResolver make makeGrouped fromFunctionBatched batchN",
    "effect/Effect#request",
    `${guides}/05_batching/10_request-resolver.ts`,
    `${guides}/52_graphql/ 30_batching.ts 40_aliased-batching.ts`
  ]),
  ask("allow at most ten requests per second", [
    "effect/persistence/RateLimiter",
    "effect/persistence/RateLimiter# RateLimiter make makeWithRateLimiter sleep",
    "effect/http/HttpClient#withRateLimiter",
    "effect/Stream# throttle throttleEffect"
  ]),
  ask("get the JSON Schema of a Schema", [
    "effect/Schema# toJsonSchemaDocument toStandardJSONSchemaV1",
    "effect/ai/Tool#getJsonSchemaFromSchema"
  ]),
  ask("readable message for a failure cause", ["effect/Cause# pretty prettyErrors"]),
  ask("vitest stop after the first failing test", ["vitest/node#InlineConfig.bail"]),
  ask("undici retry failed requests automatically", [
    `${undici}/api/ RetryAgent.md* RetryHandler.md*`,
    `${undici}/api/Interceptors.md# interceptorsretryopts composing-multiple-interceptors usage`,
    "undici# RetryAgent RetryHandler interceptors.retry"
  ]),
  ask("fast-check property with an async function", ["fast-check#asyncProperty"]),
  ask("list the resources an MCP server offers", [
    `${client}#Client.listResources`,
    "effect/ai/McpClient# McpClient McpClient.listResources"
  ]),
  ask("keep shared state that several fibers update safely", [
    "effect/Ref",
    "effect/Ref# Ref make update updateAndGet getAndUpdate modify",
    "effect/SynchronizedRef",
    "effect/SynchronizedRef# SynchronizedRef make update updateEffect modify modifyEffect",
    "effect/SubscriptionRef",
    "effect/SubscriptionRef# SubscriptionRef make update",
    "effect/TxRef",
    "effect/TxRef# TxRef update modify"
  ]),
  ask("read all pages of a paginated API as one stream", [
    "effect/Stream#paginate",
    "effect/graphql/GraphQLClient#pages",
    `${guides}/03_stream/10_creating-streams.ts`,
    `${guides}/52_graphql/10_basics.ts`
  ]),
  ask("define my own error class with extra fields", [
    "effect/Data# Error TaggedError",
    "effect/Schema# Error TaggedError",
    `${guides}/01_effect/04_errors/ 01_error-handling.ts 10_catch-tags.ts 20_reason-errors.ts`,
    `${agents}#error-handling-basics`
  ]),
  ask("reuse a fixed number of database connections", ["effect/Pool", "effect/Pool# Pool make use get"]),
  ask("use effect services from a plain express handler", [
    "effect/ManagedRuntime",
    "effect/ManagedRuntime# make ManagedRuntime ManagedRuntime.runPromise",
    "effect/Effect#runPromiseWith",
    `${guides}/04_integration/10_managed-runtime.ts`,
    `${guides}/04_integration/index.md#integrating-effect-into-existing-applications`,
    `${agents}#integrating-effect-into-existing-applications`
  ]),
  ask("group array items by a key", ["effect/Array#groupBy", "effect/Iterable#groupBy"]),
  ask("trace how long a function takes with spans", [
    "effect/Effect# fn withSpan withSpanScoped useSpan makeSpanScoped withLogSpan",
    `${guides}/01_effect/01_basics/02_effect-fn.ts`,
    `${guides}/08_observability/20_otlp-tracing.ts`,
    `${agents}#using-effectfn-and-effectfnuntraced`
  ]),
  ask("make a string type that can't be mixed up with other strings", [
    "effect/Brand",
    "effect/Brand# Brand Branded nominal make check",
    "effect/Schema# brand fromBrand",
    "effect/Newtype",
    "effect/Newtype# Newtype makeIso"
  ]),
  ask("start a web server with routes on node", [
    "effect/http/HttpRouter",
    "effect/http/HttpRouter# HttpRouter serve add addAll route",
    "@effect/platform-node/NodeHttpServer",
    "@effect/platform-node/NodeHttpServer# layer layerConfig layerServer make",
    `${guides}/51_http-server/10_basics.ts`
  ]),
  ask("save text to a file", [
    "effect/FileSystem# FileSystem FileSystem.writeFileString FileSystem.writeFile",
    "@types/node/fs# writeFile writeFileSync",
    "@types/node/fs/promises# writeFile FileHandle.writeFile",
    "@types/node@12.20.55/fs# writeFile writeFileSync promises.writeFile"
  ]),
  ask("vitest skip a test on CI", [
    "vitest# TestOptions TestOptions.skip TestContext.skip SuiteAPI",
    "@effect/vitest#Vitest.Tester"
  ]),
  ask("undici follow redirects", [
    `${undici}/api/Interceptors.md# interceptorsredirectopts composing-multiple-interceptors usage`,
    `${undici}/api/RedirectHandler.md*`,
    `${undici}/api/Fetch.md#requestredirect`,
    "undici# RedirectHandler interceptors.redirect interceptors.RedirectInterceptorOpts"
  ]),
  ask("ajv get all errors instead of only the first", ["ajv/README.md# getting-started features"]),
  ask("fast-check make my own arbitrary from an existing one", [
    "fast-check# Arbitrary Arbitrary.map Arbitrary.chain Arbitrary.filter chainUntil"
  ]),
  ask("MCP client show progress of a long tool call", [
    `${client}# RequestOptions RequestOptions.onprogress`,
    "@modelcontextprotocol/sdk/shared/protocol# RequestOptions RequestOptions.onprogress"
  ])
]

/** What people ask about the packages of this repository. Those held out were not asked while the ranking was tuned. */
export const questions: ReadonlyArray<Question> = [
  ...tuned,
  ...fresh.filter((_, i) => i % 2 === 0),
  ...[...fresh.filter((_, i) => i % 2 === 1), ...heldOut].map((question) => ({ ...question, heldOut: true }))
]
