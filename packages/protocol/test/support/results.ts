import * as Result from "effect/Result"

/** The success of a result; fails the test with the failure it holds. */
export const success = <A, E>(result: Result.Result<A, E>): A => {
  if (Result.isSuccess(result)) return result.success
  throw new Error(`expected a success, got ${JSON.stringify(result.failure)}`)
}

/** The failure of a result; fails the test with the success it holds. */
export const failure = <A, E>(result: Result.Result<A, E>): E => {
  if (Result.isFailure(result)) return result.failure
  throw new Error(`expected a failure, got ${JSON.stringify(result.success)}`)
}
