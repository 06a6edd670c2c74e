/**
 * Seals what travels through a client and has to come back as it was: encrypted with AES-256-GCM and bound to what it
 * belongs to. A token is a version, the id of the key, a nonce and the ciphertext, as base64url.
 *
 * Nonces are random, so a key should seal at most 2^32 tokens; then put a new one first in the ring.
 */
import * as Json from "@fairlead/protocol/Json"
import * as Aead from "effect/crypto/Aead"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { canonical } from "./canonical.ts"

/** A token that is not ours, not for this, or not whole. Why is not told apart, to nobody. */
export class SealBroken extends Data.TaggedError("SealBroken")<{}> {}

export interface Sealer {
  /** Binds the payload to texts that are not part of the token. */
  readonly seal: (payload: Json.Value, binding: ReadonlyArray<string>) => Effect.Effect<string>
  readonly open: (token: string, binding: ReadonlyArray<string>) => Effect.Effect<Json.Value, SealBroken>
  /** A digest of a JSON value that does not depend on the order of its members. */
  readonly digest: (value: Json.Value) => Effect.Effect<string>
}

/** A key of 32 bytes. */
export type SealKey = Redacted.Redacted<Uint8Array>

export const keyBytes = 32

const version = 1
const idBytes = 4
const nonceBytes = 12
const headBytes = 1 + idBytes + nonceBytes

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** The first key seals, all of them open. Without keys there is one of this process. */
export const makeSealer = (keys: ReadonlyArray<SealKey>): Effect.Effect<Sealer> =>
  Effect.gen(function*() {
    const aead = yield* Aead.Aead
    const digests = yield* Digest.Digest
    const hash = (bytes: Uint8Array) => Effect.orDie(digests.digest(Digest.sha256, bytes))

    const raw = keys.length === 0 ? [SecureRandom.randomBytesUnsafe(keyBytes)] : keys.map(Redacted.value)
    const ring = yield* Effect.forEach(raw, (bytes) =>
      Effect.gen(function*() {
        const key = yield* Effect.orDie(Aead.key(Aead.aes256Gcm, bytes))
        return { key, id: (yield* hash(bytes)).slice(0, idBytes) }
      }))
    const first = ring[0]!

    return {
      seal: (payload, binding) =>
        Effect.gen(function*() {
          const nonce = SecureRandom.randomBytesUnsafe(nonceBytes)
          const sealed = yield* Effect.orDie(
            aead.encrypt(first.key, encoder.encode(JSON.stringify(payload)), { nonce, aad: bound(binding) })
          )
          const token = new Uint8Array(headBytes + sealed.length)
          token[0] = version
          token.set(first.id, 1)
          token.set(nonce, 1 + idBytes)
          token.set(sealed, headBytes)
          return Base64Url.encode(token)
        }),
      open: (token, binding) =>
        Effect.gen(function*() {
          const bytes = Base64Url.decode(token)
          // Only the form that we write: other spellings of the same bytes are not ours.
          if (Result.isFailure(bytes) || Base64Url.encode(bytes.success) !== token) return yield* new SealBroken()
          const all = bytes.success
          if (all.length <= headBytes || all[0] !== version) return yield* new SealBroken()
          const id = all.subarray(1, 1 + idBytes)
          const found = ring.find((entry) => entry.id.every((byte, i) => byte === id[i]))
          if (found === undefined) return yield* new SealBroken()
          const plain = yield* Effect.mapError(
            aead.decrypt(found.key, all.slice(headBytes), {
              nonce: all.slice(1 + idBytes, headBytes),
              aad: bound(binding)
            }),
            () => new SealBroken()
          )
          // It is as we wrote it, however deep that was.
          const payload = Json.parse(decoder.decode(plain), Infinity)
          return Result.isSuccess(payload) ? payload.success : yield* new SealBroken()
        }),
      digest: (value) => Effect.map(hash(encoder.encode(canonical(value))), Base64Url.encode)
    } satisfies Sealer
  }).pipe(
    Effect.provide(Layer.mergeAll(
      Aead.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto)),
      Digest.layerWebCrypto
    ))
  )

/** Texts as one, so that no two lists give the same. */
const bound = (binding: ReadonlyArray<string>): Uint8Array => encoder.encode(JSON.stringify(binding))
