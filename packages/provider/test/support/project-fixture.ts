/** Providers at a real host: one with the token of a project, and strangers with the code that a session shows. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { connectProvider, type Provider, type ProviderOptions } from '../../src/index.js';
import { eventually } from './connected.js';
import { type RealHost, startRealHost } from './real-host.js';

/** What a scripted agent does: calls a tool and says what came of it. */
export const CALL = (name: string, input: object = {}) => [{ callTool: { name, input } }, { text: '${lastResult}' }];

/** A process of the project that only tells its token, so that the test can be that provider. */
const TOKEN_TELLER = {
  teller: {
    command: process.execPath,
    args: ['-e', 'fs.writeFileSync("token", process.env.TAP_PROVIDER_TOKEN); setInterval(() => {}, 1000)'],
  },
};

/** The token of a project provider of the host's session. */
async function projectToken({ folder }: RealHost): Promise<string> {
  let token = '';
  await eventually(() => {
    void readFile(path.join(folder, 'token'), 'utf8').then(
      (text) => {
        token = text;
      },
      () => {},
    );
    return token !== '';
  }, 'the token');
  return token;
}

export function started(options: ProviderOptions): Provider {
  const provider = connectProvider({ logger: () => {}, ...options });
  onTestFinished(() => provider.close());
  return provider;
}

/** Reads the code for the session as a person would, in a client of the host. */
export async function codeOf({ client, session }: RealHost): Promise<string> {
  for (;;) {
    const shown = (await client.request('atrium/pairings' as never, {} as never)) as {
      items: readonly { codes: readonly { session: string; code: string }[] }[];
    };
    const found = shown.items.flatMap(({ codes }) => codes).findLast((each) => each.session === session.uri);
    if (found) return found.code;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A real host, and a provider that the host would have started. */
export async function projectFixture(
  prompts: object,
  options: Partial<ProviderOptions>,
  sections?: Record<string, string>,
) {
  const fixture = await startRealHost({
    prompts: { hello: [{ text: 'hi' }], ...prompts },
    providers: TOKEN_TELLER,
    ...(sections && { sections }),
  });
  const token = await projectToken(fixture);
  const provider = started({ name: 'bench', url: fixture.url, token, ...options });
  return { ...fixture, token, provider, binding: await provider.ready };
}
