/** An error as Node throws it: with a `code` that packages look at. */
export interface CodedError extends Error {
  code: string;
}

type ErrorClass = new (message: string) => Error;

export function codedError(code: string, message: string, Base: ErrorClass = Error): CodedError {
  const error = new Base(message) as CodedError;
  error.code = code;
  return error;
}

/** Thrown when something of Node is used that a sandbox does not have. Importing it is no mistake; using it is. */
export function notAvailable(what: string, instead = ''): CodedError {
  return codedError(
    'ERR_NOT_AVAILABLE',
    `${what} is not available in the sandbox${instead === '' ? '' : `: ${instead}`}`,
  );
}
