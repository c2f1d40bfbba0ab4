/** The `type` of a message or an action, or an empty string. */
export function typeOf(message: unknown): string {
  const type = typeof message === 'object' && message !== null && 'type' in message ? message.type : undefined;
  return typeof type === 'string' ? type : '';
}
