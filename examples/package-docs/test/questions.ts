/** A question in a user's own words, and the pages that answer it. */
export interface Question {
  readonly question: string
  /** Page ids that really answer it; one ending in `*` accepts every section of that file. */
  readonly pages: ReadonlyArray<string>
  /** Written before the ranking was tuned, and not looked at while tuning. */
  readonly heldOut?: boolean
}

const aiDocs = "effect/ai-docs/src"
const undici = "undici/docs/docs"
const client = "@modelcontextprotocol/client"

/** What people ask about the packages of this repository. */
export const questions: ReadonlyArray<Question> = [
  {
    question: "how do I run an effect with a timeout",
    pages: ["effect/Effect#timeout", "effect/Effect#timeoutOption", "effect/Effect#timeoutOrElse"]
  },
  {
    question: "Schema optional with default",
    pages: [
      "effect/Schema#withDecodingDefault",
      "effect/Schema#withDecodingDefaultKey",
      "effect/Schema#withDecodingDefaultType",
      "effect/Schema#withDecodingDefaultTypeKey",
      "effect/Schema#withConstructorDefault"
    ]
  },
  {
    question: "how to retry with exponential backoff",
    pages: ["effect/Schedule#exponential", "effect/Effect#retry", `${aiDocs}/06_schedule/10_schedules.ts`]
  },
  {
    question: "read a config from environment variables",
    pages: [
      "effect/ConfigProvider#fromEnv",
      "effect/ConfigProvider#fromEnvRecord",
      "effect/ConfigProvider",
      "effect/Config"
    ]
  },
  {
    question: "parse SSE stream",
    pages: [
      "effect/encoding/Sse",
      "effect/encoding/Sse#decode",
      "effect/encoding/Sse#decodeSchema",
      "effect/encoding/Sse#decodeDataSchema",
      "effect/encoding/Sse#makeParser",
      "eventsource-parser/README.md#usage",
      "eventsource-parser/README.md#stream-usage",
      "eventsource-parser#createParser",
      "eventsource-parser/stream#EventSourceParserStream"
    ]
  },
  {
    question: "limit how many effects run at the same time",
    pages: [
      "effect/Semaphore",
      "effect/Semaphore#make",
      "effect/Semaphore#Semaphore",
      "effect/Semaphore#withPermits",
      "effect/Semaphore#withPermit",
      "effect/Effect#all",
      "effect/Effect#forEach"
    ]
  },
  {
    question: "release a resource when the program ends or is interrupted",
    pages: [
      "effect/Effect#acquireRelease",
      "effect/Effect#acquireUseRelease",
      "effect/Effect#addFinalizer",
      "effect/Effect#ensuring",
      "effect/Effect#scoped",
      "effect/Scope#addFinalizer",
      `${aiDocs}/01_effect/05_resources/10_acquire-release.ts`
    ]
  },
  {
    question: "turn a promise that may reject into an effect",
    pages: ["effect/Effect#tryPromise", `${aiDocs}/01_effect/01_basics/10_creating-effects.ts`]
  },
  {
    question: "run two effects and take whichever finishes first",
    pages: [
      "effect/Effect#race",
      "effect/Effect#raceFirst",
      "effect/Effect#raceAll",
      "effect/Effect#raceAllFirst"
    ]
  },
  {
    question: "handle only errors with a specific tag",
    pages: [
      "effect/Effect#catchTag",
      "effect/Effect#catchTags",
      `${aiDocs}/01_effect/04_errors/01_error-handling.ts`,
      `${aiDocs}/01_effect/04_errors/10_catch-tags.ts`
    ]
  },
  {
    question: "start a background fiber that outlives its parent",
    pages: ["effect/Effect#forkDetach", "effect/Effect#forkIn"]
  },
  {
    question: "decode a JSON string with a schema",
    pages: ["effect/Schema#fromJsonString"]
  },
  {
    question: "hide a secret value from logs",
    pages: [
      "effect/Redacted",
      "effect/Redacted#Redacted",
      "effect/Redacted#make",
      "effect/Config#Redacted",
      "effect/Schema#Redacted",
      "effect/Schema#RedactedFromValue"
    ]
  },
  {
    question: "remember the result of an effect for five minutes",
    pages: [
      "effect/Effect#cachedWithTTL",
      "effect/Effect#cachedInvalidateWithTTL",
      "effect/Cache",
      "effect/Cache#make",
      "effect/Cache#makeWith"
    ]
  },
  {
    question: "queue with a maximum size where producers wait",
    pages: ["effect/Queue#bounded", "effect/Queue#make"]
  },
  {
    question: "broadcast messages to several subscribers",
    pages: [
      "effect/PubSub",
      "effect/PubSub#PubSub",
      "effect/PubSub#bounded",
      "effect/PubSub#unbounded",
      "effect/PubSub#subscribe",
      "effect/PubSub#publish",
      "effect/Stream#broadcast",
      "effect/Stream#broadcastN",
      "effect/Stream#toPubSub",
      `${aiDocs}/01_effect/07_pubsub/10_pubsub.ts`
    ]
  },
  {
    question: "batch stream elements by count or time window",
    pages: ["effect/Stream#groupedWithin", "effect/Stream#aggregateWithin"]
  },
  {
    question: "only emit a stream element after things go quiet for a while",
    pages: ["effect/Stream#debounce"]
  },
  {
    question: "print logs as JSON",
    pages: [
      "effect/Logger#consoleJson",
      "effect/Logger#formatJson",
      `${aiDocs}/08_observability/10_logging.ts`
    ]
  },
  {
    question: "control the clock in tests so sleeping does not really wait",
    pages: [
      "effect/testing/TestClock",
      "effect/testing/TestClock#TestClock",
      "effect/testing/TestClock#adjust",
      "effect/testing/TestClock#setTime",
      "effect/testing/TestClock#layer",
      "@effect/vitest/README.md#using-the-testclock",
      `${aiDocs}/09_testing/10_effect-tests.ts`
    ]
  },
  {
    question: "share one database layer between many tests",
    pages: ["@effect/vitest#layer", `${aiDocs}/09_testing/20_layer-tests.ts`]
  },
  {
    question: "start a subprocess and read its stdout",
    pages: [
      "effect/process/ChildProcess",
      "effect/process/ChildProcess#make",
      "effect/process/ChildProcessSpawner",
      "effect/process/ChildProcessSpawner#ChildProcessSpawner",
      "effect/process/ChildProcessSpawner#ChildProcessHandle",
      "effect/process/ChildProcessSpawner#ChildProcessHandle.stdout",
      `${aiDocs}/60_child-process/10_working-with-child-processes.ts`,
      "@types/node/child_process#spawn",
      "@types/node/child_process#exec",
      "@types/node/child_process#execFile"
    ]
  },
  {
    question: "make an HTTP request and decode the response body with a schema",
    pages: [
      "effect/http/HttpIncomingMessage#schemaBodyJson",
      "effect/http/HttpClientResponse#schemaBodyJson",
      "effect/http/HttpClientResponse#schemaJson",
      `${aiDocs}/50_http-client/10_basics.ts`
    ]
  },
  {
    question: "add a bearer token to an outgoing request",
    pages: ["effect/http/HttpClientRequest#bearerToken"]
  },
  {
    question: "command line flag with a default value",
    pages: [
      "effect/cli/Flag#withDefault",
      "effect/cli/Flag#orElse",
      "effect/cli/Flag#withFallbackConfig",
      `${aiDocs}/70_cli/10_basics.ts`,
      "commander/Readme.md#default-option-value"
    ]
  },
  {
    question: "match on _tag and make sure every case is handled",
    pages: [
      "effect/Match#exhaustive",
      "effect/Match#tagsExhaustive",
      "effect/Match#valueTags",
      "effect/Match#typeTags",
      "effect/Match#discriminatorsExhaustive",
      "effect/Match#tags"
    ]
  },
  {
    question: "date in a time zone from an ISO string",
    pages: [
      "effect/DateTime#makeZonedFromString",
      "effect/DateTime#makeZoned",
      "effect/Schema#DateTimeZonedFromString",
      `${aiDocs}/07_datetime/20_time-zones.ts`
    ]
  },
  {
    question: "watch a directory for file changes",
    pages: [
      "effect/FileSystem#FileSystem",
      "effect/FileSystem#FileSystem.watch",
      "effect/FileSystem#WatchOptions",
      "@types/node/fs#watch",
      "@types/node/fs/promises#watch"
    ]
  },
  {
    question: "count how often something happens and export it as a metric",
    pages: ["effect/Metric#counter", "effect/Metric#frequency", "effect/Metric", "effect/Metric#Counter"]
  },
  {
    question: "run the main program on node and shut down on ctrl-c",
    pages: [
      "@effect/platform-node/NodeRuntime#runMain",
      "@effect/platform-node/NodeRuntime",
      `${aiDocs}/01_effect/06_running/10_run-main.ts`
    ]
  },
  {
    question: "minisearch boost fields",
    pages: [
      "minisearch#SearchOptions",
      "minisearch#SearchOptions.boost",
      "minisearch#MiniSearch.search",
      "minisearch/README.md#search-options"
    ]
  },
  {
    question: "minisearch autocomplete while typing",
    pages: ["minisearch#MiniSearch.autoSuggest", "minisearch/README.md#auto-suggestions"]
  },
  {
    question: "save a search index and load it again later",
    pages: [
      "minisearch#MiniSearch.toJSON",
      "minisearch#MiniSearch.loadJSON",
      "minisearch#MiniSearch.loadJSONAsync",
      "minisearch#MiniSearch.loadJS",
      "minisearch#MiniSearch.loadJSAsync",
      "minisearch#AsPlainObject"
    ]
  },
  {
    question: "ajv add custom format",
    pages: ["ajv#Ajv.addFormat", "ajv#Ajv", "ajv#Format", "ajv#FormatDefinition"]
  },
  {
    question: "vitest run tests in parallel",
    pages: [
      "vitest/node#InlineConfig.fileParallelism",
      "vitest/node#InlineConfig.maxConcurrency",
      "vitest/node#InlineConfig.maxWorkers",
      "vitest#TestOptions.concurrent",
      "vitest#TestOptions"
    ]
  },
  {
    question: "mock a module in vitest",
    pages: ["vitest#VitestUtils.mock", "vitest#VitestUtils.doMock", "vitest#vi"]
  },
  {
    question: "fake timers in vitest tests",
    pages: [
      "vitest#VitestUtils.useFakeTimers",
      "vitest/node#InlineConfig.fakeTimers",
      "vitest#FakeTimersConfig",
      "vitest#vi"
    ]
  },
  {
    question: "undici connection pool",
    pages: [
      `${undici}/api/Pool.md*`,
      `${undici}/api/BalancedPool.md*`,
      `${undici}/api/RoundRobinPool.md*`,
      "undici#Pool",
      "undici#Pool.Options",
      "undici#BalancedPool"
    ]
  },
  {
    question: "send requests through an http proxy with undici",
    pages: [
      `${undici}/api/ProxyAgent.md*`,
      `${undici}/api/EnvHttpProxyAgent.md*`,
      `${undici}/best-practices/proxy.md*`,
      "undici#ProxyAgent"
    ]
  },
  {
    question: "intercept http requests in tests with undici",
    pages: [
      `${undici}/api/MockAgent.md*`,
      `${undici}/api/MockPool.md*`,
      `${undici}/api/MockClient.md*`,
      `${undici}/best-practices/mocking-request.md*`,
      "undici#MockAgent",
      "undici#MockPool"
    ]
  },
  {
    question: "generate random arrays without duplicates for property tests",
    pages: ["fast-check#uniqueArray", "fast-check#set"]
  },
  {
    question: "fast-check replay a failing case with a seed",
    pages: ["fast-check#Parameters", "fast-check#Parameters.seed", "fast-check#Parameters.path"]
  },
  {
    question: "MCP client connect to a server over stdio",
    pages: [`${client}/stdio#StdioClientTransport`, `${client}#Client.connect`, `${client}#Client`]
  },
  {
    question: "call a tool on the MCP server from the client",
    pages: [`${client}#Client.callTool`, `${client}#Client`]
  },
  {
    question: "commander option that must be given",
    pages: [
      "commander/Readme.md#required-option",
      "commander#Command.requiredOption",
      "commander#Option.makeOptionMandatory"
    ]
  },
  {
    question: "wait until another fiber sets a value",
    pages: ["effect/Deferred", "effect/Deferred#Deferred", "effect/Deferred#await", "effect/Deferred#make"],
    heldOut: true
  },
  {
    question: "repeat an effect every night with a cron expression",
    pages: ["effect/Schedule#cron", "effect/Cron", "effect/Cron#parse", "effect/Cron#make", "effect/Cron#Cron"],
    heldOut: true
  },
  {
    question: "check that a string matches a regular expression",
    pages: ["effect/Schema#isPattern"],
    heldOut: true
  },
  {
    question: "provide a fake implementation of a service in a test",
    pages: [
      "effect/Layer#mock",
      "effect/Layer#succeed",
      "effect/Effect#provideService",
      `${aiDocs}/09_testing/20_layer-tests.ts`
    ],
    heldOut: true
  },
  {
    question: "add up all the numbers of a stream",
    pages: ["effect/Stream#runSum", "effect/Stream#runFold"],
    heldOut: true
  },
  {
    question: "split incoming text into lines",
    pages: ["effect/Stream#splitLines"],
    heldOut: true
  },
  {
    question: "combine many requests to a backend into one batch",
    pages: [
      "effect/RequestResolver",
      "effect/RequestResolver#RequestResolver",
      "effect/RequestResolver#make",
      "effect/RequestResolver#makeGrouped",
      "effect/RequestResolver#fromFunctionBatched",
      "effect/RequestResolver#batchN",
      "effect/Effect#request",
      `${aiDocs}/05_batching/10_request-resolver.ts`
    ],
    heldOut: true
  },
  {
    question: "allow at most ten requests per second",
    pages: [
      "effect/persistence/RateLimiter",
      "effect/persistence/RateLimiter#RateLimiter",
      "effect/persistence/RateLimiter#make",
      "effect/persistence/RateLimiter#makeWithRateLimiter",
      "effect/persistence/RateLimiter#sleep",
      "effect/http/HttpClient#withRateLimiter",
      "effect/Stream#throttle"
    ],
    heldOut: true
  },
  {
    question: "get the JSON Schema of a Schema",
    pages: ["effect/Schema#toJsonSchemaDocument"],
    heldOut: true
  },
  {
    question: "readable message for a failure cause",
    pages: ["effect/Cause#pretty", "effect/Cause#prettyErrors"],
    heldOut: true
  },
  {
    question: "vitest stop after the first failing test",
    pages: ["vitest/node#InlineConfig.bail"],
    heldOut: true
  },
  {
    question: "undici retry failed requests automatically",
    pages: [
      `${undici}/api/RetryAgent.md*`,
      `${undici}/api/RetryHandler.md*`,
      `${undici}/api/Interceptors.md#interceptorsretryopts`,
      "undici#RetryAgent",
      "undici#RetryHandler"
    ],
    heldOut: true
  },
  {
    question: "fast-check property with an async function",
    pages: ["fast-check#asyncProperty"],
    heldOut: true
  },
  {
    question: "list the resources an MCP server offers",
    pages: [`${client}#Client.listResources`],
    heldOut: true
  },
  {
    question: "change a document in a minisearch index",
    pages: ["minisearch#MiniSearch.replace"],
    heldOut: true
  }
]
