/**
 * A browser does not tell why a WebSocket was refused. Whether the host still serves this page tells: a host that does,
 * and lets nobody in, has another token.
 */
const TIMEOUT_MS = 3_000;

export async function isHostReachable(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { ok } = await fetch('/', { method: 'HEAD', cache: 'no-store', signal });
    return ok;
  } catch {
    return false;
  }
}
