/** Requests that the types of the protocol do not know: Atrium's own, and whatever a person types. */
import type { CallMethod, CallParams, Client } from '@atrium/client';

export function callRaw(client: Client, method: string, params: object): Promise<unknown> {
  return client.request(method as CallMethod, params as CallParams<CallMethod>);
}
