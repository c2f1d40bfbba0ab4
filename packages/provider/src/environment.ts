/** The few things that differ between a browser and Node, with no import of either. */
import { GATEWAY_DEFAULT_PORT } from '@atrium/protocol/provider';

/** The first of these variables that has a value. A page has none. */
function variable(...names: readonly string[]): string | undefined {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } };
  const name = names.find((candidate) => process?.env?.[candidate]);
  return name === undefined ? undefined : process?.env?.[name];
}

/** Where the gateway is when nobody says. A host that starts a provider tells it through the environment. */
export function defaultUrl(): string {
  const port = variable('TAP_GATEWAY_PORT') ?? GATEWAY_DEFAULT_PORT;
  return variable('TAP_GATEWAY_URL') ?? `ws://localhost:${port}`;
}

/** What a host gave to a provider that it started. */
export function defaultToken(): string | undefined {
  return variable('TAP_PROVIDER_TOKEN', 'ATRIUM_PROVIDER_TOKEN');
}
