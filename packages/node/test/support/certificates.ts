/** Certificates made on the spot: an authority, and what it signs. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"

export interface Certificate {
  readonly cert: string
  readonly key: string
}

export interface Authority {
  readonly cert: string
  /** A certificate for the names and IPv4 addresses of a server. */
  readonly issue: (hosts: ReadonlyArray<string>) => Certificate
}

const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => der(0x30, ...parts)
const integer = (value: number) => der(0x02, Buffer.of(value))
const yes = der(0x01, Buffer.of(0xff))
const identifier = (hex: string) => der(0x06, Buffer.from(hex, "hex"))
const time = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+Z$/g, "")}Z`))
const nameOf = (name: string) => sequence(der(0x31, sequence(identifier("550403"), der(0x0c, Buffer.from(name)))))
const extension = (hex: string, value: Uint8Array) => sequence(identifier(hex), der(0x04, value))

const ecdsaWithSha256 = sequence(identifier("2a8648ce3d040302"))
const basicConstraints = "551d13"
const subjectAltName = "551d11"

const day = 24 * 60 * 60 * 1000

const certificate = (
  options: {
    readonly serial: number
    readonly subject: string
    readonly issuer: string
    readonly publicKey: KeyObject
    readonly signWith: KeyObject
    readonly extension: Uint8Array
  }
): string => {
  const now = Date.now()
  const body = sequence(
    der(0xa0, integer(2)),
    integer(options.serial),
    ecdsaWithSha256,
    nameOf(options.issuer),
    sequence(time(new Date(now - day)), time(new Date(now + day))),
    nameOf(options.subject),
    options.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(options.extension))
  )
  const signature = sign("sha256", body, options.signWith)
  const whole = sequence(body, ecdsaWithSha256, der(0x03, Buffer.of(0), signature))
  const lines = whole.toString("base64").match(/.{1,64}/g)!.join("\n")
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

const keys = () => generateKeyPairSync("ec", { namedCurve: "P-256" })

export const makeAuthority = (name: string): Authority => {
  const own = keys()
  let serial = 1
  return {
    cert: certificate({
      serial: serial++,
      subject: name,
      issuer: name,
      publicKey: own.publicKey,
      signWith: own.privateKey,
      extension: extension(basicConstraints, sequence(yes))
    }),
    issue: (hosts) => {
      const { privateKey, publicKey } = keys()
      const names = hosts.map((host) =>
        /^[\d.]+$/.test(host)
          ? der(0x87, Buffer.from(host.split(".").map(Number)))
          : der(0x82, Buffer.from(host))
      )
      return {
        cert: certificate({
          serial: serial++,
          subject: hosts[0] ?? "nobody",
          issuer: name,
          publicKey,
          signWith: own.privateKey,
          extension: extension(subjectAltName, sequence(...names))
        }),
        key: privateKey.export({ type: "pkcs8", format: "pem" }) as string
      }
    }
  }
}
