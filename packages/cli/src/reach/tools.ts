/**
 * The programs that make a host reachable from other machines: how to start each for a port of this machine, how to
 * recognise
 * its public address in its output, and how to recognise its failures. All facts about programs of others are here.
 */

export type ToolName = 'tailscale' | 'cloudflared' | 'devtunnel' | 'ssh';

export interface ToolRequest {
  /** The port of the host on this machine. */
  readonly port: number;
  /** Only for ssh: where to, and on which port there; 0 is any. */
  readonly destination?: string | undefined;
  readonly sshPort?: string | undefined;
  readonly remotePort?: number | undefined;
}

export interface Tool {
  readonly name: ToolName;
  /** A description in a few words. */
  readonly what: string;
  args(request: ToolRequest): readonly string[];
  /** The public origin, if this line contains it. */
  originIn(line: string, request: ToolRequest): string | undefined;
  /** Says that nobody is logged in. */
  readonly loggedOut?: RegExp;
  /** What to do then. */
  readonly login?: string;
  readonly install: string;
  /** Says whether the link is encrypted up to this machine, or to another machine of the user. */
  readonly note: string;
}

const TAILSCALE: Tool = {
  name: 'tailscale',
  what: 'Tailscale serve: reachable in your own tailnet only',
  args: ({ port }) => ['serve', `http://127.0.0.1:${port}`],
  // Addresses at login.tailscale.com are for permissions that are still missing.
  originIn: (line) => /^https:\/\/[a-z\d-]+(?:\.[a-z\d-]+)*\.ts\.net(?::\d+)?(?=\/?$)/i.exec(line.trim())?.[0],
  loggedOut: /logged out|not logged in|NeedsLogin|failed to connect to local tailscaled/i,
  login: 'Log in first: tailscale up',
  install: 'https://tailscale.com/download',
  note: 'Only devices of your tailnet can open it.',
};

const CLOUDFLARED: Tool = {
  name: 'cloudflared',
  what: 'Cloudflare quick tunnel: reachable from everywhere, by whoever has a device code',
  args: ({ port }) => ['tunnel', '--no-autoupdate', '--url', `http://127.0.0.1:${port}`],
  originIn: (line) => /https:\/\/(?!api\.)[a-z\d-]+\.trycloudflare\.com(?![\w.-])/i.exec(line)?.[0],
  install: 'https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/',
  note: 'Everybody can open the page; only devices with a code get in. Cloudflare ends the encryption and could read along.',
};

const DEVTUNNEL: Tool = {
  name: 'devtunnel',
  what: 'Microsoft dev tunnels: reachable by your Microsoft or GitHub account',
  args: ({ port }) => ['host', '-p', String(port)],
  // The second address that it prints, with "-inspect" in it, is not the host.
  originIn: (line, { port }) =>
    line
      .match(/https:\/\/[a-z\d-]+\.[a-z\d-]+\.devtunnels\.ms(?::\d+)?/gi)
      ?.find((origin) => origin.includes(`-${port}.`) || origin.endsWith(`:${port}`)),
  loggedOut: /not logged in|login required|unauthorized|user login/i,
  login: 'Log in first: devtunnel user login',
  install: 'https://learn.microsoft.com/azure/developer/dev-tunnels/get-started',
  note: 'Browsers have to log in with your account first. Microsoft ends the encryption and could read along.',
};

const SSH: Tool = {
  name: 'ssh',
  what: 'a port of a server of yours, by ssh -R',
  args: ({ port, destination = '', sshPort, remotePort = 0 }) => [
    ...['-N', '-T', '-o', 'ExitOnForwardFailure=yes', '-o', 'ServerAliveInterval=15', '-o', 'ServerAliveCountMax=3'],
    ...(sshPort === undefined ? [] : ['-p', sshPort]),
    ...['-R', `${remotePort}:127.0.0.1:${port}`, '--', destination],
  ],
  originIn: (line) => {
    const allocated = /^Allocated port (\d+) for remote forward/.exec(line.trim())?.[1];
    return allocated === undefined ? undefined : `http://localhost:${allocated}`;
  },
  loggedOut: /Permission denied|Host key verification failed/i,
  login: 'Make sure that this works by itself: ssh <destination>',
  install: 'OpenSSH, from your system',
  note: 'Encrypted up to your server. Whoever may use that port there can open the page.',
};

export const TOOLS: readonly Tool[] = [TAILSCALE, CLOUDFLARED, DEVTUNNEL, SSH];
