/**
 * The notifications of the revision: what a server tells of a request while it runs, and what it tells those who listen.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Meta, open } from "./internal/open.ts"
import * as Messages from "./Messages.ts"
import { notification } from "./Revision.ts"

/**
 * How far a request has come: `progress` grows with each report, `total` is what it will reach if that is known.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Progress = open({
  progressToken: Messages.RequestId,
  progress: Schema.Finite,
  total: Schema.optionalKey(Schema.Finite),
  message: Schema.optionalKey(Schema.String),
  _meta: Meta
})

/**
 * A log message of the request that asked for it. Deprecated by the revision (SEP-2577), fully functional.
 *
 * @category schemas
 * @since 0.1.0
 */
export const LogMessage = open({
  level: Messages.LogLevel,
  logger: Schema.optionalKey(Schema.String),
  data: Schema.Unknown,
  _meta: Meta
})

/**
 * A request that is no longer wanted (stdio only; over HTTP the closed response says so).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Cancelled = open({
  requestId: Messages.RequestId,
  reason: Schema.optionalKey(Schema.String),
  _meta: Meta
})

/**
 * The first message of a listen stream: what of the filter is honoured.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Acknowledged = open({ notifications: Messages.SubscriptionFilter, _meta: Meta })

/**
 * A resource that changed.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceUpdated = open({ uri: Schema.String, _meta: Meta })

/**
 * A list that changed.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListChanged = open({ _meta: Meta })

/**
 * The schema of each notification's parameters, by method.
 *
 * @category schemas
 * @since 0.1.0
 */
export const params = {
  [notification.cancelled]: Cancelled,
  [notification.progress]: Progress,
  [notification.message]: LogMessage,
  [notification.acknowledged]: Acknowledged,
  [notification.toolsListChanged]: ListChanged,
  [notification.promptsListChanged]: ListChanged,
  [notification.resourcesListChanged]: ListChanged,
  [notification.resourceUpdated]: ResourceUpdated
} as const
