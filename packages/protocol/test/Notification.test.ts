import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Json, Notification, Revision } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import { problems, published } from "./support/ajv.ts"
import { withoutEach, withUnknownMembers } from "./support/openObjects.ts"
import { samples } from "./support/samples.ts"

const notifications: ReadonlyArray<
  readonly [method: keyof typeof Notification.params, definition: keyof typeof samples]
> = [
  [Revision.notification.cancelled, "CancelledNotification"],
  [Revision.notification.progress, "ProgressNotification"],
  [Revision.notification.message, "LoggingMessageNotification"],
  [Revision.notification.acknowledged, "SubscriptionsAcknowledgedNotification"],
  [Revision.notification.toolsListChanged, "ToolListChangedNotification"],
  [Revision.notification.promptsListChanged, "PromptListChangedNotification"],
  [Revision.notification.resourcesListChanged, "ResourceListChangedNotification"],
  [Revision.notification.resourceUpdated, "ResourceUpdatedNotification"]
]

const reencoded = (schema: Schema.Codec<any, any>, value: unknown): unknown =>
  JSON.parse(Json.stringify(Schema.encodeSync(schema)(Schema.decodeUnknownSync(schema)(value))))

describe("Notification", () => {
  it("there is a schema for each notification", () => {
    assert.sameMembers(Object.keys(Notification.params), [...Revision.latest.notifications.keys()])
    assert.sameMembers(notifications.map(([method]) => method), [...Revision.latest.notifications.keys()])
  })

  describe.each(notifications)("%s", (method, definition) => {
    const validate = published(definition)
    const schema: Schema.Codec<any, any> = Notification.params[method]
    const envelope = (params: unknown) => ({ jsonrpc: "2.0", method, params })

    it("what the revision publishes is decoded and encoded to the same JSON", () => {
      for (const sample of samples[definition]) {
        assert.strictEqual(problems(validate, envelope(sample)), "")
        assert.deepStrictEqual(reencoded(schema, sample) as object, sample)
      }
    })

    it(verifies("BASE-21")("unknown members survive in every object"), () => {
      for (const sample of samples[definition]) {
        const open = withUnknownMembers(sample)
        assert.strictEqual(problems(validate, envelope(open)), "")
        assert.deepStrictEqual(reencoded(schema, open), open)
      }
    })

    it("what the revision requires is required", () => {
      for (const sample of samples[definition]) {
        for (const [key, rest] of withoutEach(sample)) {
          const required = !validate(envelope(rest))
          assert.strictEqual(Schema.decodeUnknownExit(schema)(rest)._tag, required ? "Failure" : "Success", key)
        }
      }
    })
  })

  it("progress and cancellation refer to ids of any size, and to zero and the empty string", () => {
    const big = new Json.ExactNumber("9007199254740993")
    for (const id of [0, "", -1, "0", big]) {
      assert.strictEqual(Schema.decodeUnknownSync(Notification.Cancelled)({ requestId: id }).requestId, id)
      assert.strictEqual(
        Schema.decodeUnknownSync(Notification.Progress)({ progressToken: id, progress: 1 }).progressToken,
        id
      )
    }
    for (const id of [null, 1.5, true, {}]) {
      assert.throws(() => Schema.decodeUnknownSync(Notification.Cancelled)({ requestId: id }))
    }
  })

  it("progress is a finite number", () => {
    for (const progress of ["1", null, NaN, Infinity, new Json.ExactNumber("1e400")]) {
      assert.throws(() => Schema.decodeUnknownSync(Notification.Progress)({ progressToken: 1, progress }))
    }
  })
})
