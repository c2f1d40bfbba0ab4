import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Session } from '@atrium/core/sessions/session.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TrustedFolders } from '../../src/plugins/trust/folder-trust.js';
import {
  PROGRAM_LINE_MAX_CHARACTERS,
  PROGRAMS_QUESTION_MAX,
  type Program,
  providerProgram,
} from '../../src/plugins/trust/programs.js';
import { SessionTrust } from '../../src/plugins/trust/session-trust.js';
import { until } from '../support/gateway-connections.js';
import { componentsOf } from '../support/host-components.js';
import { type Fixture, openFixture, stateOf, turnStarted } from '../support/session-fixture.js';
import { sessionsV1Client } from '../support/sessions-v1-client.js';
import { tempFolder } from '../support/temp-folder.js';
import { settle } from '../support/test-host.js';

interface TrustFixture extends Fixture {
  readonly session: Session;
  readonly folder: string;
  /** Where trusted folders are remembered. */
  readonly file: string;
  readonly folders: TrustedFolders;
}

async function openTrustFixture(name = 'project'): Promise<TrustFixture> {
  const base = await tempFolder();
  const folder = path.join(base, name);
  await mkdir(folder);
  const fixture = await openFixture({ session: { workingDirectory: pathToFileURL(folder).href } });
  const session = componentsOf(fixture.host.host).sessions.inMemory.get(fixture.uri);
  if (!session) throw new Error('the session is not in memory');
  const file = path.join(base, 'trusted.json');
  return { ...fixture, session, folder, file, folders: new TrustedFolders(file) };
}

/** Stands for what a folder declares. */
function program(line: string): Program {
  return { line, digest: `digest of ${line}` };
}

function question({ client, uri }: Fixture) {
  return until(async () => (await stateOf(client, uri)).inputRequests?.find(({ id }) => id.startsWith('trust-')));
}

describe('trust in a folder', () => {
  it('is asked for once, whatever waits, and remembered', async () => {
    const fixture = await openTrustFixture();
    const started: string[] = [];
    const trust = new SessionTrust(fixture.session, fixture.folders);
    const first = await Promise.all(
      ['one', 'two'].map((what) => trust.whenTrusted(program(what), { start: () => started.push(what) })),
    ).then(() => question(fixture));
    await trust.whenTrusted(program('three'), { start: () => started.push('three') });
    const asked = await until(async () => {
      const found = await question(fixture);
      return found.message?.includes('    three') ? found : undefined;
    });
    // Who answers the first question has not seen the second.
    expect(asked.id).not.toBe(first.id);
    fixture.client.dispatch(fixture.uri, { type: 'session/inputCompleted', requestId: first.id, response: 'accept' });
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests).toHaveLength(1);
    expect(started).toEqual([]);
    expect([...trust.waiting].sort()).toEqual(['one', 'three', 'two']);
    fixture.client.dispatch(fixture.uri, { type: 'session/inputCompleted', requestId: asked.id, response: 'accept' });
    await until(() => started.length === 3 || undefined);
    expect(await fixture.folders.isTrusted(fixture.folder)).toBe(true);
    await trust.whenTrusted(program('one'), { start: () => started.push('one again') });
    expect(started).toContain('one again');
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests ?? []).toEqual([]);
  });

  it.each(['decline', 'cancel'] as const)('is not asked for again when somebody said no (%s)', async (response) => {
    const fixture = await openTrustFixture();
    const refused: string[] = [];
    const trust = new SessionTrust(fixture.session, fixture.folders);
    const wait = (what: string) =>
      trust.whenTrusted(program(what), { start: () => {}, refused: () => refused.push(what) });
    await wait('one');
    const { id } = await question(fixture);
    fixture.client.dispatch(fixture.uri, { type: 'session/inputCompleted', requestId: id, response });
    await settle();
    await wait('two');
    await settle();
    expect(refused).toEqual(['one', 'two']);
    expect(trust.waiting).toEqual(['one', 'two']);
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests ?? []).toEqual([]);
    expect(await fixture.folders.isTrusted(fixture.folder)).toBe(false);
  });

  it('[REL-053] is asked for in words of the host: what the folder says stands apart, on lines of its own', async () => {
    const name = 'project\n\nThis folder was checked.\u202e **Accept**';
    const fixture = await openTrustFixture(name);
    const trust = new SessionTrust(fixture.session, fixture.folders);
    onTestFinished(() => trust.close());
    const args = ['-e', 'x\n\nAtrium: all of this is **safe**. Please accept.\u202e', '`now`'];
    await trust.whenTrusted(providerProgram('ci', { command: 'node', args, env: { KEY: 'secret' } }, fixture.folder), {
      start: () => {},
    });
    const lines = (await question(fixture)).message?.split('\n') ?? [];
    const own = lines.filter((line) => !line.startsWith('    '));
    expect(own).toEqual([
      'Do you trust this folder? It wants to start programs on this machine.',
      '',
      '',
      'It would start 1 program:',
      '',
      '',
      'Nothing of this runs until you accept. Your answer is remembered for this folder and for exactly these programs.',
    ]);
    // Indented after an empty line, so that a client that renders Markdown renders none of it.
    expect(lines.slice(1, 4)).toEqual([
      '',
      expect.stringContaining('project\\n\\nThis folder was checked.\\u{202e} **Accept**'),
      '',
    ]);
    expect(lines.slice(5, 8)).toEqual([
      '',
      '    provider ci: node -e "x\\n\\nAtrium: all of this is **safe**. Please accept.\\u{202e}" "`now`" (sets KEY)',
      '',
    ]);
  });

  it('[REL-053] shows everything that a yes covers: what does not fit is asked about afterwards', async () => {
    const fixture = await openTrustFixture();
    const started: string[] = [];
    const trust = new SessionTrust(fixture.session, fixture.folders);
    onTestFinished(() => trust.close());
    const names = Array.from({ length: PROGRAMS_QUESTION_MAX + 2 }, (_, index) => `program-${1000 + index}`);
    await Promise.all(names.map((name) => trust.whenTrusted(program(name), { start: () => started.push(name) })));
    const first = await question(fixture);
    expect(first.message).toContain('These are not all: 2 more are asked about afterwards');
    fixture.client.dispatch(fixture.uri, { type: 'session/inputCompleted', requestId: first.id, response: 'accept' });
    const second = await until(async () => {
      const found = await question(fixture);
      return found.id === first.id ? undefined : found;
    });
    expect(started.toSorted()).toEqual(names.slice(0, PROGRAMS_QUESTION_MAX));
    for (const name of names) {
      const isInSecond = second.message?.includes(`    ${name}\n`);
      expect(first.message?.includes(`    ${name}\n`)).toBe(!isInSecond);
      expect(await fixture.folders.allows(fixture.folder, program(name).digest)).toBe(!isInSecond);
    }
    fixture.client.dispatch(fixture.uri, { type: 'session/inputCompleted', requestId: second.id, response: 'accept' });
    await until(() => started.length === names.length || undefined);
  });

  it('[REL-053] starts nothing that is too long to be shown', async () => {
    const fixture = await openTrustFixture();
    const refused: string[] = [];
    const trust = new SessionTrust(fixture.session, fixture.folders);
    const long = program('x'.repeat(PROGRAM_LINE_MAX_CHARACTERS + 1));
    await trust.whenTrusted(long, { start: () => refused.push('started'), refused: (why) => refused.push(why) });
    expect(refused).toEqual([expect.stringContaining('put it into a file')]);
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests ?? []).toEqual([]);
  });

  it('[REL-055] is for the programs that were shown: another one is asked about, and the rest goes on', async () => {
    const fixture = await openTrustFixture();
    const trust = new SessionTrust(fixture.session, fixture.folders);
    onTestFinished(() => trust.close());
    await fixture.folders.trust(fixture.folder, [program('node ci.js').digest]);
    const started: string[] = [];
    for (const line of ['node ci.js', 'node evil.js'])
      await trust.whenTrusted(program(line), { start: () => started.push(line) });
    const { message } = await question(fixture);
    expect(message).toContain('    node evil.js');
    expect(message).not.toContain('node ci.js');
    expect(started).toEqual(['node ci.js']);
  });

  it('[REL-055] takes the question back when what it was about is gone', async () => {
    const fixture = await openTrustFixture();
    const trust = new SessionTrust(fixture.session, fixture.folders);
    const gone = new AbortController();
    await trust.whenTrusted(program('one'), { start: () => {}, signal: gone.signal });
    await question(fixture);
    gone.abort();
    await until(async () => (await stateOf(fixture.client, fixture.uri)).inputRequests === undefined || undefined);
    expect(trust.waiting).toEqual([]);
  });

  it('may be given elsewhere; then nobody is asked any more', async () => {
    const fixture = await openTrustFixture();
    let isStarted = false;
    const trust = new SessionTrust(fixture.session, fixture.folders);
    await trust.whenTrusted(program('one'), {
      start: () => {
        isStarted = true;
      },
    });
    await question(fixture);
    await fixture.folders.trust(fixture.folder, [program('one').digest]);
    await until(() => isStarted || undefined);
    await settle();
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests ?? []).toEqual([]);
  });

  it('may be given by another process while somebody is asked', async () => {
    const fixture = await openTrustFixture();
    let isStarted = false;
    const trust = new SessionTrust(fixture.session, fixture.folders);
    onTestFinished(() => trust.close());
    await trust.whenTrusted(program('one'), {
      start: () => {
        isStarted = true;
      },
    });
    await question(fixture);
    await new TrustedFolders(fixture.file).trust(fixture.folder, [program('one').digest]);
    await until(() => isStarted || undefined);
    expect((await stateOf(fixture.client, fixture.uri)).inputRequests ?? []).toEqual([]);
  });

  it('[UNI-065] is asked for in the next turn, too, when somebody has a client without questions', async () => {
    const fixture = await openTrustFixture();
    const phone = await sessionsV1Client(fixture.host, 'phone');
    await phone.subscribe(fixture.uri.replace('ahp-session:', 'mock:'));
    const trust = new SessionTrust(fixture.session, fixture.folders);
    await trust.whenTrusted(program('provider ci: node ci.js'), { start: () => {} });
    await question(fixture);
    fixture.client.dispatch(fixture.uri, turnStarted('t1', 'slow'));
    await until(() => JSON.stringify(phone.envelopes()).includes('provider ci: node ci.js') || undefined);
    expect(JSON.stringify(phone.envelopes())).toContain('cannot answer');
  });

  it('is of no use any more when its session ends', async () => {
    const fixture = await openTrustFixture();
    let isStarted = false;
    const trust = new SessionTrust(fixture.session, fixture.folders);
    await trust.whenTrusted(program('one'), {
      start: () => {
        isStarted = true;
      },
    });
    await question(fixture);
    trust.close();
    await fixture.folders.trust(fixture.folder, [program('one').digest]);
    await settle();
    expect(isStarted).toBe(false);
  });

  it('starts nothing when its session ended while the folder was looked up', async () => {
    const fixture = await openTrustFixture();
    await fixture.folders.trust(fixture.folder, [program('one').digest]);
    let isStarted = false;
    const trust = new SessionTrust(fixture.session, fixture.folders);
    const looked = trust.whenTrusted(program('one'), {
      start: () => {
        isStarted = true;
      },
    });
    trust.close();
    await looked;
    expect(isStarted).toBe(false);
  });
});
