/** A real ssh server on loopback, for one test file, with keys of its own; and an `ssh` that knows it and nothing else. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/usr/bin/sshd'].find((file) => existsSync(file));
const isClientThere = ['/usr/bin/ssh', '/usr/local/bin/ssh'].some((file) => existsSync(file));

/** Empty when all is there. The server lets only its own user in. */
export const SSHD_MISSING =
  SSHD && isClientThere ? '' : 'skipped: sshd is not installed, see `apt install openssh-server`';

export interface SshServer {
  readonly port: number;
  readonly user: string;
  /** To be put before the PATH: has an `ssh` with the key of the test, and no configuration of the machine. */
  readonly bin: string;
  /** The same with a key that the server does not know. */
  readonly strangerBin: string;
  stop(): void;
}

export async function startSshServer(): Promise<SshServer> {
  if (SSHD === undefined) throw new Error(SSHD_MISSING);
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-sshd-'));
  const at = (name: string) => path.join(folder, name);
  for (const key of ['host', 'user', 'stranger'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  const port = await freePort();
  const { username } = userInfo();
  writeFileSync(at('authorized'), readFileSync(at('user.pub')));
  writeFileSync(at('known'), `[127.0.0.1]:${port} ${readFileSync(at('host.pub'), 'utf8')}`);
  writeFileSync(
    at('sshd_config'),
    [
      // The shell there reads no settings of the person who runs the tests.
      `SetEnv HOME=${folder}`,
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${at('host')}`,
      `AuthorizedKeysFile ${at('authorized')}`,
      `PidFile ${at('pid')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin yes',
      'AllowTcpForwarding yes',
    ].join('\n'),
  );
  // sshd of a system separates privileges in this folder, which its service makes otherwise.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const child = spawn(SSHD, ['-D', '-e', '-f', at('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  await untilOpen(port);
  return {
    port,
    user: username,
    bin: client(at('bin'), { key: at('user'), known: at('known') }),
    strangerBin: client(at('stranger-bin'), { key: at('stranger'), known: at('known') }),
    stop() {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function client(folder: string, { key, known }: { key: string; known: string }): string {
  mkdirSync(folder);
  const file = path.join(folder, 'ssh');
  const options = `-F /dev/null -i ${key} -o IdentitiesOnly=yes -o IdentityAgent=none -o UserKnownHostsFile=${known}`;
  writeFileSync(file, `#!/bin/sh\nexec /usr/bin/ssh ${options} "$@"\n`);
  chmodSync(file, 0o755);
  return folder;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function untilOpen(port: number): Promise<void> {
  for (let left = 200; left > 0; left -= 1) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the ssh server did not open its port');
}
