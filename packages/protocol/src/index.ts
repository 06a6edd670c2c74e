/**
 * Sizes in bytes, and chunks of them.
 *
 * @since 0.1.0
 */
export * as Bytes from "./Bytes.ts"

/**
 * What a call carries. `Call` is one immutable record that follows the fiber: deadline, timeout, cancellation,
 * correlation, idempotency key, progress and extra metadata. Each has a combinator that works on one call or on a whole
 * program with any number of clients inside.
 *
 * @since 0.1.0
 */
export * as Call from "./Call.ts"

/**
 * What the two ends say of themselves: name and version, and the capabilities that a client declares on each request
 * and a server in its discovery.
 *
 * @since 0.1.0
 */
export * as Capabilities from "./Capabilities.ts"

/**
 * Completion of the arguments of prompts and of the parameters of resource templates: what a client asks, and the values
 * a server offers.
 *
 * @since 0.1.0
 */
export * as Completion from "./Completion.ts"

/**
 * Content blocks: what tools answer with and prompts consist of. Binary content is a `Uint8Array` here; base64 exists
 * only on the wire.
 *
 * @since 0.1.0
 */
export * as Content from "./Content.ts"

/**
 * Line frames: one message a line, as stdio and other byte streams carry them. The splitter works on bytes, so that a
 * character cut by a chunk is never damaged (spec: basic/transports/stdio).
 *
 * @since 0.1.0
 */
export * as Frames from "./Frames.ts"

/**
 * The HTTP header rules of the revision, read by client and server alike so that they cannot drift apart: which headers
 * a request has, which of its values they repeat, and how a value that is not plain ASCII is written.
 *
 * @since 0.1.0
 */
export * as HttpRules from "./HttpRules.ts"

/**
 * What a server can ask its client for in the middle of a request, and what a client answers: a form or a visit to a URL
 * (elicitation), a sample of a language model, or the roots of the file system (spec: client/elicitation,
 * client/sampling, client/roots).
 *
 * @since 0.1.0
 */
export * as InputRequest from "./InputRequest.ts"

/**
 * JSON values that keep every number as it was written. `JSON.parse` rounds what a double cannot hold; here such a
 * number becomes an {@link ExactNumber}, and writing it gives the same digits again.
 *
 * @since 0.1.0
 */
export * as Json from "./Json.ts"

/**
 * The JSON-RPC 2.0 envelope as MCP uses it: single requests, notifications and responses, decoded from a text once and
 * encoded to a text once. There are no batches (spec: basic, Messages).
 *
 * @since 0.1.0
 */
export * as JsonRpc from "./JsonRpc.ts"

/**
 * The parameters and results of every method of the revision, as schemas. Objects are open: members that a schema does
 * not name are kept, as the protocol asks (spec: schema.ts).
 *
 * @since 0.1.0
 */
export * as Messages from "./Messages.ts"

/**
 * The notifications of the revision: what a server tells of a request while it runs, and what it tells those who listen.
 *
 * @since 0.1.0
 */
export * as Notification from "./Notification.ts"

/**
 * Prompt definitions: one value serves the declaration a server lists, the registration of its handler and the typed get
 * of a client. Arguments are text on the wire; a schema decodes them.
 *
 * @since 0.1.0
 */
export * as Prompt from "./Prompt.ts"

/**
 * Resource definitions: one value serves the declaration a server lists, the registration of its handler and the typed
 * read of a client. A resource has one URI; a template has many, whose parameters a schema decodes.
 *
 * @since 0.1.0
 */
export * as Resource from "./Resource.ts"

/**
 * The revision of the protocol that both ends speak, as data: methods, notifications, `_meta` keys, error codes and
 * their HTTP status. It is open at the points where an extension adds to it.
 *
 * @since 0.1.0
 */
export * as Revision from "./Revision.ts"

/**
 * A map for what comes and goes all the time, such as requests and calls under way. What was taken out of a plain `Map`
 * or `Set` is not always free: in V8 each table that they outgrow points to the next one, so once one of them is old, all
 * that were ever in them live on until the next full collection. Here they hold slots, which are emptied.
 *
 * @since 0.1.0
 */
export * as Slots from "./Slots.ts"

/**
 * One-shot timers on a `Clock`, cheap enough for one a request: on the live clock a plain timer, on any other (such as
 * `TestClock`) a sleeping fiber.
 *
 * @since 0.1.0
 */
export * as Timer from "./Timer.ts"

/**
 * Tool definitions: one value serves the declaration a server lists, the registration of its handler and the typed call
 * of a client. The JSON Schemas, decoders and encoders are made once, with the definition.
 *
 * @since 0.1.0
 */
export * as Tool from "./Tool.ts"

/**
 * The service a client sends its requests through. HTTP, stdio and in-process transports implement it, and so can you:
 * a transport moves bytes and says truthfully whether they may have left; ids, deadlines, retries and typing are the
 * client's.
 *
 * @since 0.1.0
 */
export * as Transport from "./Transport.ts"

/**
 * URI templates (RFC 6570) in both directions: a template is expanded with values, and a URI is matched against it.
 *
 * @since 0.1.0
 */
export * as UriTemplate from "./UriTemplate.ts"
