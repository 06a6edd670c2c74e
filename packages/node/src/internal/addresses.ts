/**
 * Which addresses are dialled: the resolved ones are filtered before a socket sees them, so that a name cannot lead
 * anywhere else between a check and the connection.
 */
import type * as Undici from "@effect/platform-node/Undici"
import * as Dns from "node:dns"
import * as Net from "node:net"

type Allow = (address: string) => boolean

/** No address of the host is allowed. */
export class AddressRefused extends Error {}

/** A connector that dials only what is allowed. */
export const filtered = (allow: Allow, make: (lookup: Net.LookupFunction) => Undici.buildConnector.connector) => {
  const connect = make(lookupOf(allow))
  const connector: Undici.buildConnector.connector = (options, callback) => {
    // A host that is an address is not looked up.
    if (Net.isIP(options.hostname) === 0 || isAllowed(allow, options.hostname)) return connect(options, callback)
    queueMicrotask(() => callback(new AddressRefused(), null))
  }
  return connector
}

const isAllowed = (allow: Allow, address: string): boolean => {
  try {
    return allow(address)
  } catch {
    return false
  }
}

const lookupOf = (allow: Allow): Net.LookupFunction => (hostname, options, callback) => {
  Dns.lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return callback(error, [])
    const addresses = found.filter(({ address }) => isAllowed(allow, address))
    const [first] = addresses
    if (first === undefined) return callback(new AddressRefused(), [])
    if (options.all === true) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}
