import { ask, type Question } from "./Question.ts"

const guides = "effect/ai-docs/src"

/**
 * Written before any of them was asked. The ranking is tuned with every other one; the rest tells what the tuning is
 * worth for questions it has not seen.
 */
export const fresh: ReadonlyArray<Question> = [
  ask("log a message with extra fields attached", [
    "effect/Effect# annotateLogs annotateLogsScoped",
    "effect/References#CurrentLogAnnotations",
    `${guides}/08_observability/10_logging.ts`
  ]),
  ask("run a job every morning at nine", [
    "effect/Schedule#cron"
  ]),
  ask("read a file line by line", [
    "effect/Stream#splitLines",
    "effect/Channel#splitLines",
    "effect/FileSystem# FileSystem.stream",
    "@types/node/readline# createInterface Interface",
    "@types/node/fs/promises#FileHandle.readLines"
  ]),
  ask("wrap an API that takes a callback", [
    "effect/Effect# callback effectify",
    "@types/node/util#promisify",
    "universalify/README.md#universalifyfromcallbackfn",
    `${guides}/01_effect/01_basics/10_creating-effects.ts`
  ]),
  ask("put several layers together into one", [
    "effect/Layer# mergeAll merge provideMerge",
    "effect/Layer"
  ]),
  ask("call a URL again when the server is temporarily unavailable", [
    "effect/http/HttpClient# retry retryTransient",
    `${guides}/50_http-client/10_basics.ts`,
    "undici/docs/docs/api/Interceptors.md#interceptorsretryopts",
    "undici#RetryAgent",
    "undici#RetryHandler",
    "undici/docs/docs/api/RetryAgent.md*",
    "undici/docs/docs/api/RetryHandler.md*"
  ]),
  ask("generate a random uuid", [
    "effect/crypto/SecureRandom",
    "effect/crypto/SecureRandom# uuidV4Unsafe uuidV7Unsafe UuidGenerator SecureRandom",
    "@types/node/crypto# randomUUID randomUUIDv7 webcrypto.Crypto.randomUUID"
  ]),
  ask("compare two objects by their contents and not by reference", [
    "effect/Equal",
    "effect/Equal# equals Equal",
    "effect/Equivalence",
    "effect/Equivalence# Struct",
    "fast-deep-equal/README.md*",
    "@types/node/util#isDeepStrictEqual"
  ]),
  ask("show a date in another time zone", [
    "effect/DateTime# setZone setZoneNamed setZoneNamedUnsafe format formatIntl setZoneOffset makeZoned formatIsoZoned setZoneCurrent"
  ]),
  ask("add three days to a date", ["effect/DateTime# add addDuration"]),
  ask("schema for a string that matches a regular expression", [
    "effect/Schema# isPattern TemplateLiteral",
    "effect/SchemaAST#isPattern"
  ]),
  ask("schema that allows only a few fixed strings", ["effect/Schema# Literals Literal Enum"]),
  ask("schema for a tree that contains itself", ["effect/Schema# suspend"]),
  ask("rename a property while decoding", [
    "effect/Schema#encodeKeys"
  ]),
  ask("keep only some fields of an object", [
    "effect/Struct# pick omit",
    "effect/Record# filter"
  ]),
  ask("slow down a stream so that it emits at most ten elements a second", ["effect/Stream# throttle throttleEffect"]),
  ask("read from two streams at the same time as one", [
    "effect/Stream# merge mergeAll mergeResult"
  ]),
  ask("get all values of a stream as an array", [
    "effect/Stream# runCollect",
    "effect/Sink# collect"
  ]),
  ask("use a web ReadableStream as a stream", ["effect/Stream# fromReadableStream"]),
  ask("find out how long an effect took", [
    "effect/Effect# timed trackDuration",
    "effect/Metric# timer"
  ]),
  ask("expose metrics for prometheus", [
    "effect/observability/PrometheusMetrics",
    "effect/observability/PrometheusMetrics# format formatUnsafe layerHttp"
  ]),
  ask("create a span around a function", [
    "effect/Effect# withSpan fn withSpanScoped useSpan",
    "effect/Tracer",
    `${guides}/08_observability/20_otlp-tracing.ts`
  ]),
  ask("write a command line program with flags and subcommands", [
    "effect/cli/Command",
    "effect/cli/Command# make withSubcommands",
    "effect/cli/Flag",
    `${guides}/70_cli/10_basics.ts`
  ]),
  ask("ask for confirmation in the terminal", [
    "effect/cli/Prompt# Confirm Toggle",
    "effect/cli/Prompt",
    "enquirer/README.md#confirm-prompt"
  ]),
  ask("declare an HTTP API with typed endpoints", [
    "effect/http-api/HttpApi",
    "effect/http-api/HttpApiEndpoint",
    "effect/http-api/HttpApi#make",
    "effect/http-api/HttpApiEndpoint# make",
    "effect/http-api/HttpApiGroup",
    `${guides}/51_http-server/10_basics.ts`
  ]),
  ask("send a file as the answer to an HTTP request", [
    "effect/http/HttpServerResponse# file fileWeb",
    "effect/http/HttpStaticServer",
    "effect/http/HttpStaticServer# layer make",
    "send/README.md#serve-a-specific-file"
  ]),
  ask("run several SQL statements atomically", [
    "effect/sql/SqlClient",
    "effect/sql/SqlClient# SqlClient SqlClient.withTransaction makeWithTransaction"
  ]),
  ask("replace a service by a fake one in tests", [
    "effect/Layer# mock succeed",
    `${guides}/09_testing/20_layer-tests.ts`
  ]),
  ask("vitest test with random inputs", [
    `${guides}/09_testing/10_effect-tests.ts`,
    "@effect/vitest#prop",
    "@effect/vitest# Vitest.Tester.prop Vitest.MethodsNonLive.prop"
  ]),
  ask("do something different for each case of a union", [
    "effect/Match",
    "effect/Match# tag tags tagsExhaustive valueTags typeTags discriminators discriminatorsExhaustive",
    "effect/Data# TaggedEnum taggedEnum",
    "effect/Schema#TaggedUnion"
  ]),
  ask("apply functions one after another to a value", [
    "effect/Function",
    "effect# pipe flow",
    "effect/Pipeable"
  ]),
  ask("value to use when an option is none", ["effect/Option# getOrElse match orElse orElseSome"]),
  ask("first element of an array without an exception when it is empty", [
    "effect/Array# head headNonEmpty get",
    "effect/Iterable# head"
  ]),
  ask("group the items of a list by a property", [
    "effect/Array# groupBy",
    "effect/Iterable# groupBy"
  ]),
  ask("sort by last name and then by first name", [
    "effect/Array# sortBy sortWith",
    "effect/Order# combine combineAll Struct mapInput",
    "effect/Order"
  ]),
  ask("change a field deep inside an immutable object", [
    "effect/Optic",
    "effect/Optic# makeLens Lens Optional Optional.modify"
  ]),
  ask("open a connection when it is first needed and close it when nobody uses it any more", [
    "effect/RcRef",
    "effect/RcRef# make RcRef get",
    "effect/RcMap",
    "effect/RcMap# make RcMap get"
  ]),
  ask("reuse a fixed number of connections", [
    "effect/Pool",
    "effect/Pool# make makeWithTTL Pool get",
    "undici/docs/docs/getting-started.md#pool--for-requests-to-a-single-origin",
    "undici/docs/docs/api/Pool.md#pool",
    "undici/docs/docs/best-practices/undici-vs-builtin-fetch.md#connection-pooling-and-dispatchers"
  ]),
  ask("wait until all child fibers are done", [
    "effect/Fiber# awaitAll joinAll await join",
    "effect/Effect# awaitAllChildren",
    "effect/FiberSet# awaitEmpty join"
  ]),
  ask("kill a fiber that is still running", ["effect/Fiber# interrupt interruptAll interruptAs"]),
  ask("make sure this part is never interrupted", ["effect/Effect# uninterruptible uninterruptibleMask"]),
  ask("treat an error as a bug", ["effect/Effect# orDie die"]),
  ask("gzip a buffer", [
    "fflate# gzip gzipSync Gzip",
    "@types/node/zlib# gzip gzipSync createGzip Gzip",
    "@types/node/zlib"
  ]),
  ask("check data against a JSON schema with ajv", [
    "ajv/README.md#getting-started",
    "ajv# Ajv.compile Ajv.validate"
  ])
]
