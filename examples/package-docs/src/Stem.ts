const cache = new Map<string, string>()

/** The stem of an English word in lower case (Porter's algorithm): `retries` and `retrying` are both `retri`. */
export const stem = (word: string): string => {
  if (word.length < 3 || /\d/.test(word)) {
    return word
  }
  const known = cache.get(word)
  if (known !== undefined) {
    return known
  }
  const result = porter(word)
  // Source code has no end of words: the cache is for those that come back.
  if (cache.size > 50_000) {
    cache.clear()
  }
  cache.set(word, result)
  return result
}

const consonant = "[^aeiou]"
const vowel = "[aeiouy]"
const consonants = `${consonant}[^aeiouy]*`
const vowels = `${vowel}[aeiou]*`
const measured = new RegExp(`^(?:${consonants})?${vowels}${consonants}`)
const measuredOnce = new RegExp(`^(?:${consonants})?${vowels}${consonants}(?:${vowels})?$`)
const measuredTwice = new RegExp(`^(?:${consonants})?${vowels}${consonants}${vowels}${consonants}`)
const hasVowel = new RegExp(`^(?:${consonants})?${vowel}`)
const short = new RegExp(`^${consonants}${vowel}[^aeiouwxy]$`)

const step2: ReadonlyArray<readonly [string, string]> = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"]
]
const step3: ReadonlyArray<readonly [string, string]> = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""]
]
const step4 = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$/

const porter = (word: string): string => {
  let w = word.startsWith("y") ? `Y${word.slice(1)}` : word
  if (/(?:ss|i)es$/.test(w)) {
    w = w.slice(0, -2)
  } else if (/[^s]s$/.test(w)) {
    w = w.slice(0, -1)
  }
  if (w.endsWith("eed")) {
    if (measured.test(w.slice(0, -3))) {
      w = w.slice(0, -1)
    }
  } else {
    const base = /^(.+)(?:ed|ing)$/.exec(w)?.[1]
    if (base !== undefined && hasVowel.test(base)) {
      if (/(?:at|bl|iz)$/.test(base)) {
        w = `${base}e`
      } else if (/([^aeiouylsz])\1$/.test(base)) {
        w = base.slice(0, -1)
      } else {
        w = short.test(base) ? `${base}e` : base
      }
    }
  }
  if (w.endsWith("y") && hasVowel.test(w.slice(0, -1))) {
    w = `${w.slice(0, -1)}i`
  }
  w = replace(w, step2)
  w = replace(w, step3)
  const four = step4.exec(w)
  if (four !== null) {
    if (measuredTwice.test(four[1]!)) {
      w = four[1]!
    }
  } else {
    const ion = /^(.+[st])ion$/.exec(w)?.[1]
    if (ion !== undefined && measuredTwice.test(ion)) {
      w = ion
    }
  }
  if (w.endsWith("e")) {
    const base = w.slice(0, -1)
    if (measuredTwice.test(base) || (measuredOnce.test(base) && !short.test(base))) {
      w = base
    }
  }
  if (w.endsWith("ll") && measuredTwice.test(w)) {
    w = w.slice(0, -1)
  }
  return w.toLowerCase()
}

const replace = (word: string, rules: ReadonlyArray<readonly [string, string]>): string => {
  let best: readonly [string, string] | undefined
  for (const rule of rules) {
    if (word.endsWith(rule[0]) && (best === undefined || rule[0].length > best[0].length)) {
      best = rule
    }
  }
  if (best === undefined) {
    return word
  }
  const base = word.slice(0, -best[0].length)
  return measured.test(base) ? base + best[1] : word
}
