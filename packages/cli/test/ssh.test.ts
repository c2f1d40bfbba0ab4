/** A host of another machine by ssh, with a real ssh server. The other machine is this one. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSshAddress, parseSshAddress } from '../src/connect/ssh.js';
import { PROMPT, say } from './support/chat.js';
import { sharedHost, type TestHost } from './support/host.js';
import { atrium, COMMAND, type Environment, endOf } from './support/run-cli.js';
import { SSHD_MISSING, type SshServer, startSshServer } from './support/sshd.js';
import { openWindow } from './support/window.js';

describe('an address for ssh', () => {
  it('[DEV-056] is user, host and port, and nothing that ssh or a shell would take for something else', () => {
    expect(isSshAddress('ssh://me@box')).toBe(true);
    expect(isSshAddress('ws://me@box')).toBe(false);
    expect(parseSshAddress('ssh://box')).toEqual({ destination: 'box', port: undefined });
    expect(parseSshAddress('ssh://me@box.example:2222/')).toEqual({ destination: 'me@box.example', port: '2222' });
    expect(parseSshAddress('ssh://me@[::1]:22')).toEqual({ destination: 'me@::1', port: '22' });
    for (const wrong of [
      ...['ssh://', 'ssh://-oProxyCommand=id', 'ssh://-l@box', 'ssh://me@-box', 'ssh://box;id', 'ssh://box/path'],
      ...['ssh://me:secret@box', 'ssh://box:0x22', 'ssh://$(id)@box', 'ssh://a b@box', 'ssh://box?x=1'],
    ])
      expect(() => parseSshAddress(wrong), wrong).toThrow('is no address for ssh');
  });
});

describe.skipIf(SSHD_MISSING !== '')(`a host behind ssh${SSHD_MISSING && ` (${SSHD_MISSING})`}`, () => {
  const host = sharedHost();
  let server: SshServer;
  beforeAll(async () => {
    server = await startSshServer();
  });
  afterAll(() => server?.stop());

  const address = () => `ssh://${server.user}@127.0.0.1:${server.port}`;
  /** As it would be called on the other machine: with its own data folder, which this one does not name. */
  const remote = ({ dataDir }: TestHost) => `ATRIUM_DATA_DIR='${dataDir}' '${process.execPath}' '${COMMAND}'`;
  const here = (bin = server.bin): Environment => ({ PATH: `${bin}${path.delimiter}${process.env.PATH}` });

  it('[DEV-056] answers commands; the token stays there, and no port is opened here', async () => {
    const { stdout: there } = await host().run(['sessions', 'list', '--json']);
    const args = ['sessions', 'list', '--json', '--url', address(), '--remote-atrium', remote(host())];
    const ended = await endOf(atrium(args, here()));
    expect(ended).toMatchObject({ code: 0, stderr: '', stdout: there });
    const token = (await readFile(path.join(host().dataDir, 'connection-token'), 'utf8')).trim();
    const raw = await endOf(
      host().start(['bridge']),
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}\n',
    );
    expect(raw.stdout).toMatch(/^ATRIUM-BRIDGE 1\n/);
    expect(raw.stdout).not.toContain(token);
  });

  it('[DEV-056] attach talks to a session there', async () => {
    expect((await host().run(['run', 'hello'])).code).toBe(0);
    const window = openWindow();
    const args = ['attach', address(), 'last', '--remote-atrium', remote(host())];
    const run = atrium(args, { TERM: 'xterm-256color', ...here() }, { window, cwd: host().cwd });
    await window.sees(PROMPT);
    await say(window, 'and by ssh');
    await window.sees(/and by ssh[\s\S]*write a message/);
    window.keys('C-d');
    expect(await run.ended()).toBe(0);
    const { stdout } = await host().run(['sessions', 'show', 'last']);
    expect(stdout).toContain('and by ssh');
  });

  it('[DEV-056] says what is wrong: a key that is not known, a port that is closed, no Atrium there, no ssh here', async () => {
    const list = (url: string, command: string, env: Environment) =>
      endOf(atrium(['sessions', 'list', '--url', url, '--remote-atrium', command], env));
    const stranger = await list(address(), remote(host()), here(server.strangerBin));
    expect(stranger.code).toBe(1);
    expect(stranger.stderr).toMatch(/ssh cannot connect to .*Permission denied/s);
    const closed = await list(`ssh://${server.user}@127.0.0.1:1`, 'atrium', here());
    expect(closed.stderr).toMatch(/ssh cannot connect to .*refused/s);
    const missing = await list(address(), 'no-such-atrium', here());
    expect(missing.stderr).toContain('"no-such-atrium" was not found on');
    expect(missing.stderr).toContain('--remote-atrium');
    const without = await list(address(), 'atrium', { PATH: '/nowhere' });
    expect(without.stderr).toContain('ssh is not installed here');
  });

  it('[DEV-056] passes over what the shell of the other machine says first', async () => {
    const noisy = `echo welcome; echo '{"jsonrpc":"2.0"}'; ${remote(host())}`;
    const args = ['sessions', 'list', '--json', '--url', address(), '--remote-atrium', noisy];
    expect((await endOf(atrium(args, here()))).code).toBe(0);
  });
});
