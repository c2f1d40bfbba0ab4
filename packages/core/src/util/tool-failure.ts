/** Says why a tool cannot do what it was asked, in words for a person or a model. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
