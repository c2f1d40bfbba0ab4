import { describe, expect, it } from 'vitest';
import { atrium, DESK_SCRIPT, endOf, isBuilt, jsonLines, newDataFolder, openDesk } from './support.js';

describe.skipIf(!isBuilt)('atrium run (skipped unless it has been built)', { timeout: 60_000 }, () => {
  it('prints the answer and nothing else; the rest is said beside it', async () => {
    const desk = await openDesk();
    const hello = await desk.run(['run', 'hello']);
    expect(hello).toMatchObject({ code: 0, stdout: 'Hello **you**, here is `code`.\n' });
    const deploy = await desk.run(['run', '--approve', 'all', 'deploy']);
    expect(deploy.stdout).toBe('I would like to deploy.\n\nThe outcome: Deployed in 3 s.\n');
    expect(deploy.stderr).toContain('Deployed to staging');
    expect(deploy.code).toBe(0);
  }, 30_000);

  it('takes the message from standard input, alone and behind another', async () => {
    const desk = await openDesk();
    expect((await desk.run(['run'], 'from a pipe\n')).stdout).toBe('You said: from a pipe\n');
    expect((await desk.run(['run', 'look:', '-'], 'some text')).stdout).toBe('You said: look:\n\nsome text\n');
    expect(await desk.run(['run'])).toMatchObject({ code: 2, stdout: '' });
  }, 30_000);

  it('lets no tool run that nobody allowed, and says so with its exit code', async () => {
    const desk = await openDesk();
    for (const approve of ['reads', 'none']) {
      const { code, stderr } = await desk.run(['run', '--approve', approve, 'deploy']);
      expect(code).toBe(5);
      expect(stderr).toContain('denied: deploy');
    }
  }, 30_000);

  it('ends with 1 when the turn fails, and declines questions', async () => {
    const desk = await openDesk();
    const failed = await desk.run(['run', 'fail']);
    expect(failed).toMatchObject({ code: 1, stdout: 'So far.\n' });
    expect(failed.stderr).toContain('The script fails.');
    expect((await desk.run(['run', 'ask'])).code).toBe(0);
  }, 30_000);

  it('stops the turn when its time is over, or when it is interrupted', async () => {
    const desk = await openDesk();
    expect(await desk.run(['run', '--timeout', '0.8', 'slow'])).toMatchObject({ code: 3 });
    const slow = desk.start(['run', 'slow']);
    slow.child.stdin?.end();
    await slow.says(/W/);
    slow.child.kill('SIGINT');
    expect(await slow.ended()).toBe(130);
    const { stdout } = await desk.run(['sessions', 'show', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ turns: [{ state: 'cancelled' }] });
  }, 30_000);

  it('prints one JSON object per line with --json, the result last', async () => {
    const desk = await openDesk();
    const { code, stdout } = await desk.run(['run', '--json', '--approve', 'all', 'deploy']);
    const lines = jsonLines(stdout);
    expect(code).toBe(0);
    expect(lines[0]).toMatchObject({ type: 'session', session: expect.stringMatching(/^ahp-session:/) });
    expect(lines.at(-1)).toMatchObject({ type: 'result', state: 'complete', denied: 0 });
    expect(lines.map(({ type }) => type)).toContain('call');
  }, 30_000);

  it('goes on in a session, waits behind a running turn, and knows when there is none', async () => {
    const desk = await openDesk();
    await desk.run(['run', 'first']);
    await desk.run(['run', '--session', 'last', 'second']);
    const { stdout } = await desk.run(['sessions', 'show', 'last', '--json']);
    expect(JSON.parse(stdout).turns).toHaveLength(2);
    expect((await desk.run(['run', '--session', 'nowhere', 'x'])).code).toBe(4);
    const nap = desk.start(['run', '--session', 'last', 'nap']);
    nap.child.stdin?.end();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const behind = desk.start(['run', '--session', 'last', 'third']);
    behind.child.stdin?.end();
    await behind.says(/You said: third/);
    expect(nap.said.stdout).toBe('Rested.\n');
  }, 60_000);

  it('starts a host when none runs, unless told not to', async () => {
    const dataDir = await newDataFolder();
    const env = { ATRIUM_DATA_DIR: dataDir, ATRIUM_SCRIPT: DESK_SCRIPT };
    const refused = await endOf(atrium(['run', '--no-start', 'hello'], env));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('atrium service start');
    const answered = await endOf(atrium(['run', 'hello'], env));
    expect(answered).toMatchObject({ code: 0, stdout: 'Hello **you**, here is `code`.\n' });
    expect((await endOf(atrium(['service', 'stop'], env))).code).toBe(0);
  }, 60_000);

  it('reaches another host by its address', async () => {
    const { dataDir, host } = await openDesk();
    const [, port] = await host.says(/READY:(\d+)/);
    const args = ['run', '--url', `ws://127.0.0.1:${port}`, 'hi'];
    const answered = await endOf(atrium([...args, '--token-file', `${dataDir}/connection-token`]));
    expect(answered).toMatchObject({ code: 0, stdout: 'You said: hi\n' });
    expect((await endOf(atrium([...args, '--token-file', '/no/such/file']))).code).toBe(2);
    expect((await endOf(atrium(args))).code).toBe(5);
    expect((await endOf(atrium(['run', '--url', 'nonsense', 'hi']))).code).toBe(2);
  }, 30_000);
});
