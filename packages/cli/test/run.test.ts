import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { announceInstance } from '@atrium/host';
import { ATTACHMENT_MAX_BYTES, MESSAGE_CONTENTS_MAX } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { textReport } from '../src/run/report.js';
import { AGENT_SCRIPT, isBuilt, newDataFolder, sharedHost } from './support/host.js';
import { atrium, endOf, jsonLines, spawnAtrium } from './support/run-cli.js';

/** A host that takes connections and never says a word, as one that hangs. */
async function announceMuteHost(dataDir: string): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const facts = { pid: process.pid, host: '127.0.0.1', port, url: `ws://127.0.0.1:${port}` };
  await announceInstance(dataDir, { ...facts, startedAt: new Date().toISOString() });
}

describe.skipIf(!isBuilt)('atrium run (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const shared = sharedHost();

  it('prints the answer and nothing else; the rest is said beside it', async () => {
    const host = shared();
    const hello = await host.run(['run', 'hello']);
    expect(hello).toMatchObject({ code: 0, stdout: 'Hello **you**, here is `code`.\n' });
    const deploy = await host.run(['run', '--approve', 'all', 'deploy']);
    expect(deploy.stdout).toBe('I would like to deploy.\n\nThe outcome: Deployed in 3 s.\n');
    expect(deploy.stderr).toContain('Deployed to staging');
    expect(deploy.code).toBe(0);
  });

  it('[DAY-010] sends files along, which the host stores, and says which of them cannot go', async () => {
    const host = shared();
    const folder = await newDataFolder();
    await mkdir(folder, { recursive: true });
    const [note, large] = [path.join(folder, 'note.txt'), path.join(folder, 'large.bin')];
    await writeFile(note, 'remember the milk\n');
    await writeFile(large, '');
    await truncate(large, ATTACHMENT_MAX_BYTES + 1);
    const sent = await host.run(['run', '--json', '--attach', note, '--attach', note, 'hello']);
    expect(sent.code).toBe(0);
    const { session } = jsonLines(sent.stdout)[0] as { session: string };
    const shown = JSON.parse((await host.run(['sessions', 'show', session, '--json'])).stdout);
    const attachment = { type: 'resource', label: 'note.txt', uri: expect.stringMatching(/^atrium-content:/) };
    const [turn] = shown.turns ?? shown.chat?.turns ?? [];
    expect(turn.message.attachments).toMatchObject([attachment, attachment]);
    for (const [file, reason] of [
      [large, /larger than 16 MiB/],
      [folder, /is not a file that can be attached/],
      [path.join(folder, 'nowhere'), /is not a file that can be attached/],
    ] as const) {
      const refused = await host.run(['run', '--attach', file, 'hello']);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(reason)]);
    }
    const many = Array.from({ length: MESSAGE_CONTENTS_MAX + 1 }, () => ['--attach', note]).flat();
    expect(await host.run(['run', ...many, 'hello'])).toMatchObject({ code: 2 });
  });

  it('keeps what the agent says and what is said beside it on lines of their own', async () => {
    const run = shared().start(['run', '--approve', 'all', 'deploy']);
    expect(await endOf(run)).toMatchObject({ code: 0 });
    expect(run.shown()).toBe(
      'I would like to deploy.\n> Deploy to staging\n✓ Deployed to staging\n\nThe outcome: Deployed in 3 s.\n',
    );
  });

  it('does not break a line of the answer for a call that ends while the agent writes', () => {
    const written: string[] = [];
    const catches = (stream: NodeJS.WriteStream, mark: string) =>
      vi.spyOn(stream, 'write').mockImplementation((text) => written.push(`${mark}${text}`) > 0);
    const spies = [catches(process.stdout, ''), catches(process.stderr, '! ')];
    onTestFinished(() => spies.forEach((spy) => void spy.mockRestore()));
    const call = { toolCallId: 'c', toolName: 't', displayName: 'T', invocationMessage: 'Look' };
    const report = textReport();
    const running = { ...call, status: 'running' as const, confirmed: 'not-needed' as const };
    report.update({ kind: 'call', call: running, isNewPart: true });
    report.update({ kind: 'text', text: 'One ', isNewPart: true });
    const done = { ...running, status: 'completed' as const, success: true, pastTenseMessage: 'Looked' };
    report.update({ kind: 'call', call: done, isNewPart: false });
    report.update({ kind: 'text', text: 'line.', isNewPart: false });
    report.update({ kind: 'note', text: 'Mind the step.', isNewPart: true });
    report.close();
    expect(written).toEqual(['! > Look\n', 'One ', 'line.', '\n', '! ✓ Looked\n', '! note: Mind the step.\n']);
  });

  it.each([
    ['echo a', 'a\n'],
    ["printf 'a'", 'a\n'],
    ["printf 'a\\nb\\n'", 'a\nb\n'],
    ["printf '\\nafter a blank line\\n'", '\nafter a blank line\n'],
    ['printf "\\033[H\\033[2J\\033[3J"; echo cleared', 'cleared\n'],
    ['seq 1 21', `${Array.from({ length: 21 }, (_, index) => index + 1).join('\n')}\n`],
    ['true', ''],
  ])('shows the output of `%s` from its first line on', async (command, output) => {
    const { stdout } = await shared().run(['run', '--agent', 'offline', '--approve', 'all', `$ ${command}`]);
    expect(stdout).toBe(`Done:\n\n\`\`\`text\n${output}[exit code 0]\n\`\`\`\n`);
  });

  it('says how many lines of a long output it leaves out', async () => {
    const { stdout } = await shared().run(['run', '--agent', 'offline', '--approve', 'all', '$ seq 1 100']);
    expect(stdout).toMatch(/^Done:\n\n…after 41 earlier lines in the tool's result:\n\n```text\n42\n/);
  });

  it('takes the message from standard input, alone and behind another', async () => {
    const host = shared();
    expect((await host.run(['run'], 'from a pipe\n')).stdout).toBe('You said: from a pipe\n');
    expect((await host.run(['run', 'look:', '-'], 'some text')).stdout).toBe('You said: look:\n\nsome text\n');
    expect(await host.run(['run'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('lets no tool run that nobody allowed, and says so with its exit code', async () => {
    const host = shared();
    for (const approve of ['reads', 'none']) {
      const { code, stderr } = await host.run(['run', '--approve', approve, 'deploy']);
      expect(code).toBe(5);
      expect(stderr).toContain('denied: deploy');
    }
  });

  it('ends with 1 when the turn fails, and declines questions', async () => {
    const host = shared();
    const failed = await host.run(['run', 'fail']);
    expect(failed).toMatchObject({ code: 1, stdout: 'So far.\n' });
    expect(failed.stderr).toContain('The script fails.');
    expect((await host.run(['run', 'ask'])).code).toBe(0);
  });

  it('stops the turn when its time is over, or when it is interrupted', async () => {
    const host = shared();
    expect(await host.run(['run', '--timeout', '0.8', 'slow'])).toMatchObject({ code: 3 });
    const slow = host.spawn(['run', 'slow']);
    slow.stdin.end();
    await slow.says(/W/);
    slow.signal('SIGINT');
    expect(await slow.ended()).toBe(130);
    const { stdout } = await host.run(['sessions', 'show', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ turns: [{ state: 'cancelled' }] });
  });

  it('does not wait longer for a host that does not answer', async () => {
    const dataDir = await newDataFolder();
    await announceMuteHost(dataDir);
    // As a process: what it gave up waiting for ends with it.
    const late = await endOf(spawnAtrium(['run', '--timeout', '0.8', 'hello'], { ATRIUM_DATA_DIR: dataDir }));
    expect(late).toMatchObject({ code: 3, stdout: '', stderr: 'error: no answer within 0.8 s; it was stopped\n' });
  });

  it('prints one JSON object per line with --json, the result last', async () => {
    const host = shared();
    const { code, stdout } = await host.run(['run', '--json', '--approve', 'all', 'deploy']);
    const lines = jsonLines(stdout);
    expect(code).toBe(0);
    expect(lines[0]).toMatchObject({ type: 'session', session: expect.stringMatching(/^ahp-session:/) });
    expect(lines.at(-1)).toMatchObject({ type: 'result', state: 'complete', denied: 0 });
    expect(lines.map(({ type }) => type)).toContain('call');
  });

  it('goes on in a session, waits behind a running turn, and knows when there is none', async () => {
    const host = shared();
    await host.run(['run', 'first']);
    await host.run(['run', '--session', 'last', 'second']);
    const { stdout } = await host.run(['sessions', 'show', 'last', '--json']);
    expect(JSON.parse(stdout).turns).toHaveLength(2);
    expect((await host.run(['run', '--session', 'nowhere', 'x'])).code).toBe(4);
    const nap = host.start(['run', '--session', 'last', 'nap']);
    nap.stdin.end();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const behind = host.start(['run', '--session', 'last', 'third']);
    behind.stdin.end();
    await behind.says(/You said: third/);
    expect(nap.said.stdout).toBe('Rested.\n');
  });

  it('starts a host when none runs, unless told not to', async () => {
    const dataDir = await newDataFolder();
    const env = { ATRIUM_DATA_DIR: dataDir, ATRIUM_SCRIPT: AGENT_SCRIPT };
    const refused = await endOf(atrium(['run', '--no-start', 'hello'], env));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('atrium service start');
    const answered = await endOf(spawnAtrium(['run', 'hello'], env));
    expect(answered).toMatchObject({ code: 0, stdout: 'Hello **you**, here is `code`.\n' });
    expect((await endOf(atrium(['service', 'stop'], env))).code).toBe(0);
  });

  it('reaches another host by its address', async () => {
    const { dataDir, serve } = shared();
    const [, port] = await serve.says(/READY:(\d+)/);
    const args = ['run', '--url', `ws://127.0.0.1:${port}`, 'hi'];
    const answered = await endOf(atrium([...args, '--token-file', `${dataDir}/connection-token`]));
    expect(answered).toMatchObject({ code: 0, stdout: 'You said: hi\n' });
    expect((await endOf(atrium([...args, '--token-file', '/no/such/file']))).code).toBe(2);
    expect((await endOf(atrium(args))).code).toBe(5);
    expect((await endOf(atrium(['run', '--url', 'nonsense', 'hi']))).code).toBe(2);
  });
});
