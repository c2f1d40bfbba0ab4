/** A random id of 128 bits. `crypto.randomUUID` is missing on pages served without TLS, so it is not used. */
export function newId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
