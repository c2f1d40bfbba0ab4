/** Something was not put into its place, and nothing was changed. The message says why. */
export class NotPutError extends Error {
  override readonly name = 'NotPutError';
}
