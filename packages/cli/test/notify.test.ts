/** `atrium notify`, `/notify`, and how a terminal calls its person. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type Transport } from '@atrium/client';
import { createHost, MemoryLog, scriptedAgent, transportPair } from '@atrium/host';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Attention, callFor, silence } from '../src/chat/attention.js';
import { KeyReader } from '../src/chat/keys.js';
import { io, runWith } from '../src/io.js';
import { openChat, PROMPT, say } from './support/chat.js';
import { FakeClock } from './support/fake-clock.js';
import { isBuilt, startHost, type TestHost } from './support/host.js';

const BELL = '\u0007';
const ESC = '\u001b';

describe('a call of the terminal', () => {
  it('[DEV-045] is a bell and one notification, in the way that the terminal knows', () => {
    const message = { title: 'Rain; snow', body: 'Needs an answer' };
    expect(callFor(message, { TERM: 'xterm-256color' })).toBe(
      `${BELL}${ESC}]9;Atrium: Rain; snow: Needs an answer${ESC}\\`,
    );
    for (const env of [{ TERM: 'foot' }, { TERM: 'rxvt-unicode-256color' }, { TERM: 'xterm', VTE_VERSION: '7600' }])
      expect(callFor(message, env)).toBe(`${BELL}${ESC}]777;notify;Rain, snow;Needs an answer${ESC}\\`);
  });

  it('[DEV-045] lets no text of a session end the sequence or begin another', () => {
    const evil = `x${ESC}\\${ESC}]52;c;ZXZpbA==${BELL}\u009c\u009d0;title\u0007\n${ESC}[2J\u202e`;
    for (const env of [{ TERM: 'xterm' }, { TERM: 'foot' }]) {
      const call = callFor({ title: evil, body: evil }, env);
      // One bell and one escape before the text, one behind it, and nothing between.
      const inside = call.slice(3, -2);
      for (const code of [...inside].map((character) => character.codePointAt(0) ?? 0))
        expect(code >= 0x20 && !(code >= 0x7f && code <= 0x9f) && code !== 0x202e).toBe(true);
    }
    expect(callFor({ title: 'x'.repeat(100_000) }, {}).length).toBeLessThan(300);
  });

  it('[DEV-045] focus and its loss are no keys', () => {
    const names: string[] = [];
    const reader = new KeyReader(({ name, text }) => names.push(text ?? name));
    reader.feed(`a${ESC}[Ib${ESC}[O`);
    expect(names).toEqual(['a', 'focus', 'b', 'blur']);
    reader.close();
  });
});

/** A host in this process whose clock stands still, a client of it, and a terminal that keeps what is written. */
async function open() {
  const clock = new FakeClock();
  const prompts = { ask: [{ ask: { message: 'Which?', questions: [] } }] };
  const agent = scriptedAgent({ provider: 'mock', displayName: 'Mock', prompts, default: [{ text: 'hi' }] } as never);
  const host = await createHost({ log: new MemoryLog(), agents: [agent], clock, notifications: { desktop: null } });
  onTestFinished(() => host.stop());
  const client = await connect({
    clientId: 'terminal',
    transport: async (): Promise<Transport> => {
      const [transport, end] = transportPair();
      host.connect(transport);
      return {
        send: (text) => end.send(text),
        close: () => end.close(),
        onMessage: (listener) => {
          end.onmessage = listener;
        },
        onClose: (listener) => {
          end.onclose = (code, reason) => listener({ code, reason });
        },
      };
    },
  });
  onTestFinished(() => client.close());
  const uri = await client.createSession({ provider: 'mock' });
  const session = await client.open(uri);
  const written: string[] = [];
  const stdout = { write: (text: string) => written.push(text) };
  const given = { ...io(), stdout, env: { TERM: 'xterm' } };
  const attention = runWith(given as never, () => new Attention(client, uri));
  onTestFinished(attention.follow());
  const ask = async () => {
    const message = { text: 'ask', origin: { kind: 'user' as const } };
    await session.dispatch({ type: 'chat/turnStarted', turnId: crypto.randomUUID(), message });
    await expect.poll(() => session.state.session.inputNeeded?.length).toBe(1);
  };
  return { attention, client, clock, written, ask };
}

const QUESTION_DELAY_MS = 5_000;

describe('a chat whose terminal tells its focus', () => {
  it('[DEV-041] [DEV-045] rings when it is not in focus, and never when it is', async () => {
    const { attention, clock, written, ask } = await open();
    attention.focused(true);
    await ask();
    await clock.advance(10 * QUESTION_DELAY_MS);
    expect(written).toEqual([]);
    attention.focused(false);
    await expect
      .poll(async () => {
        await clock.advance(QUESTION_DELAY_MS);
        return written.length;
      })
      .toBe(1);
    expect(written[0]).toContain(']9;Atrium: ');
    await clock.advance(60 * QUESTION_DELAY_MS);
    expect(written).toHaveLength(1);
  });

  it('[DEV-045] that was told to be silent does not ring', async () => {
    const { attention, clock, written, ask, client } = await open();
    silence(client, true);
    attention.focused(false);
    await ask();
    await clock.advance(QUESTION_DELAY_MS);
    await clock.advance(QUESTION_DELAY_MS);
    expect(written).toEqual([]);
  });
});

describe.skipIf(!isBuilt)('atrium notify (skipped unless it has been built)', { timeout: 90_000 }, () => {
  const bodies: { headers: Record<string, unknown>; text: string }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      bodies.push({ headers: request.headers, text });
      response.writeHead(request.url === '/wrong' ? 404 : 204).end();
    });
  });
  let host: TestHost;
  let url = '';
  const cleanups: (() => unknown)[] = [];
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    url = `http://localhost:${port}/`;
    host = await startHost(['--notify-hosts', `localhost:${port}`], (clean) => void cleanups.push(clean));
  }, 60_000);
  afterAll(async () => {
    for (const clean of cleanups.reverse()) await clean();
    server.close();
  });

  it('[DEV-044] adds, lists, changes, tries and removes webhooks; the secret is printed once', async () => {
    expect((await host.run(['notify', 'list'])).stdout).toContain('Nobody is told yet');
    const added = await host.run([
      'notify',
      'webhook',
      'add',
      `${url}path`,
      '--name',
      'CI',
      '--events',
      'failed,question',
    ]);
    expect(added.stdout).toMatch(
      /Added [\da-f]{8}: question,failed; says title\nIts secret, which is not shown again: [\w-]{43}\n/,
    );
    const [, secret = ''] = /again: (\S+)/.exec(added.stdout) ?? [];
    const listed = await host.run(['notify', 'webhook', 'list']);
    expect(listed.stdout).toMatch(/^[\da-f]{8} +webhook +CI +question,failed; says title +http:\/\/localhost:\d+$/m);
    expect(listed.stdout).not.toContain(secret);
    expect((await host.run(['notify', 'test', 'CI'])).stdout).toBe('CI was told.\n');
    expect(JSON.parse(bodies.at(-1)?.text ?? '')).toMatchObject({ event: 'test', title: 'Atrium' });
    const hours = ['--quiet', '22:00-07:00', '--time-zone', 'Asia/Tokyo', '--detail', 'nothing'];
    const set = await host.run(['notify', 'set', 'CI', ...hours, '--events', 'all']);
    expect(set.stdout).toContain('CI: everything; quiet 22:00-07:00 Asia/Tokyo; says nothing');
    expect((await host.run(['notify', 'list', '--json'])).stdout).not.toContain(secret);
    expect((await host.run(['notify', 'set', 'CI', '--quiet', 'off'])).stdout).toContain(
      'CI: everything; says nothing',
    );
    expect((await host.run(['notify', 'webhook', 'remove', 'CI'])).stdout).toContain(', CI.');
    expect((await host.run(['notify', 'test', 'CI'])).stderr).toContain('there is no receiver');
  });

  it('[DEV-042] [DEV-044] says why an address is refused, and what a server answered', async () => {
    for (const refused of [
      'http://10.0.0.1/',
      'http://localhost:1/',
      'https://me:secret@hooks.example/',
      'mailto:x@y',
    ]) {
      const { code, stderr } = await host.run(['notify', 'webhook', 'add', refused]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/https|password/);
    }
    await host.run(['notify', 'webhook', 'add', 'https://10.0.0.1/', '--name', 'inside']);
    expect((await host.run(['notify', 'test', 'inside'])).stderr).toContain('private network');
    await host.run(['notify', 'webhook', 'add', `${url}wrong`, '--name', 'wrong']);
    const { code, stderr } = await host.run(['notify', 'test', 'wrong']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('The server answered 404.') });
  });

  it.each([
    [['notify', 'webhook', 'add', 'https://x.example', '--events', 'rain'], /--events: "rain" is none of/],
    [['notify', 'webhook', 'add', 'https://x.example', '--detail', 'all'], /--detail: "all" is none of/],
    [['notify', 'webhook', 'add', 'https://x.example', '--quiet', 'night'], /--quiet: "night" are no hours/],
    [['notify', 'desktop', 'maybe'], /on, off/],
    [['serve', '--notify-hosts', 'http://x'], /--notify-hosts: "http:\/\/x" is not a host/],
    [['serve', '--notify-contact', 'me'], /--notify-contact: "me" is no contact/],
  ])('[DEV-040] %j is called in a wrong way', async (args, message) => {
    const { code, stderr } = await host.run(args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });

  it('[DEV-045] /notify says who is told, and rings for a test', async () => {
    const { terminal } = await openChat('chat', { host });
    await terminal.sees(PROMPT);
    await say(terminal, '/notify');
    await terminal.sees(/webhook +inside/);
    await say(terminal, '/notify off');
    await terminal.sees(/This terminal stays silent/);
  });
});
