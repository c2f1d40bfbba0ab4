/**
 * `atrium reach`: runs a tunnel of this machine to the host, lets the host answer to its public address meanwhile, and
 * prints a
 * link that lets one device in. Everything ends together: with the command, with the tunnel, or with the host.
 */
import type { Client } from '@atrium/client';
import { ADD_DEVICE_METHOD, type DeviceInvitation, deviceLink, REACH_METHOD } from '@atrium/protocol/ahp-1';
import type { HostOptions } from '../connect/host-options.js';
import { reachHost } from '../connect/reach.js';
import { parseSshAddress } from '../connect/ssh.js';
import { callExtension, orRefused } from '../connect/with-client.js';
import { dataFolderFrom } from '../data-folder.js';
import { UsageError } from '../exit.js';
import { io, print, printJson, tell } from '../io.js';
import { findHost } from '../service/running-host.js';
import { qrCode } from '../text/qr-code.js';
import { TOOLS, type Tool, type ToolRequest } from './tools.js';
import { onPath, openTunnel, type Tunnel } from './tunnel.js';

export interface ReachOptions extends HostOptions {
  readonly tool?: string | undefined;
  /** For ssh. */
  readonly destination?: string | undefined;
  readonly public?: string;
  readonly remotePort?: number;
  readonly role?: string;
  readonly name?: string;
  readonly json?: boolean;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function reach(options: ReachOptions): Promise<void> {
  const tool = chosenTool(options);
  const asked = requestFor(tool, options);
  const client = await reachHost(options, { tell });
  let tunnel: Tunnel | undefined;
  const stopped = stopSignal();
  try {
    const port = await localPort(options);
    tell(`Starting ${tool.name}: ${tool.what} …`);
    const opening = openTunnel({ tool, request: { ...asked, port }, origin: options.public });
    // Closes the tunnel if the person gave up before it opened.
    opening.then((opened) => (stopped.isAsked() ? opened.close() : undefined)).catch(() => {});
    const opened = await Promise.race([opening, stopped.asked]);
    if (opened === undefined) return;
    tunnel = opened;
    await orRefused(client, open(client, tunnel, { ...options, tool }));
    const reason = await Promise.race([stopped.asked, tunnel.ended, hostGone(client)]);
    if (reason !== undefined) throw new Error(reason);
    tell('Closed: the host is reached from this machine only.');
  } finally {
    stopped.release();
    await tunnel?.close();
    client.close();
  }
}

function chosenTool({ tool: name }: ReachOptions): Tool {
  if (name === undefined) {
    const found = TOOLS.find((tool) => tool.name !== 'ssh' && onPath(tool.name) !== undefined);
    if (found) return found;
    const rows = TOOLS.map(
      ({ name: each, what, install }) => `  ${each.padEnd(12)}${what}\n${' '.repeat(14)}${install}`,
    );
    throw new Error(
      `none of these is installed here:\n${rows.join('\n')}\nWith a server of yours: atrium reach ssh user@server`,
    );
  }
  const named = TOOLS.find((tool) => tool.name === name);
  if (named) return named;
  throw new UsageError(`"${name}" is not known. Choose one of ${TOOLS.map((tool) => tool.name).join(', ')}`);
}

function requestFor(tool: Tool, { destination, remotePort, public: origin }: ReachOptions): Omit<ToolRequest, 'port'> {
  if (tool.name !== 'ssh') {
    if (destination !== undefined || remotePort !== undefined || origin !== undefined)
      throw new UsageError(
        `a destination, --remote-port and --public are for ssh; ${tool.name} finds its address itself`,
      );
    return {};
  }
  if (destination === undefined) throw new UsageError('say where to: atrium reach ssh user@server');
  const address = parseSshAddress(/^ssh:\/\//i.test(destination) ? destination : `ssh://${destination}`);
  if (origin !== undefined && remotePort === undefined)
    throw new UsageError('--public names the address in front of a port: say which one with --remote-port');
  return { destination: address.destination, sshPort: address.port, remotePort };
}

/** The host has to ask for a token, and must not speak TLS itself: then it has a name of its own already. */
async function localPort(options: ReachOptions): Promise<number> {
  const found = await findHost(dataFolderFrom(options.dataDir, io().env));
  if (!found) throw new Error('the host is gone again. Try once more');
  if (found.instance.url.startsWith('wss:'))
    throw new Error(
      'this host speaks TLS itself: other machines reach it by the name in its certificate, see --allowed-hosts',
    );
  if (found.token === undefined)
    throw new Error(
      'this host requires no token, so anybody could connect. Start it without --without-connection-token',
    );
  return found.instance.port;
}

interface OpenOptions extends Omit<ReachOptions, 'tool'> {
  readonly tool: Tool;
}

async function open(client: Client, { origin }: Tunnel, { tool, role, name, json }: OpenOptions): Promise<void> {
  await callExtension(client, REACH_METHOD, { origin });
  const params = { ...(role !== undefined && { role }), ...(name !== undefined && { name }) };
  const {
    code,
    fingerprint,
    expiresAt,
    role: given,
  } = (await callExtension(client, ADD_DEVICE_METHOD, params)) as DeviceInvitation;
  const link = deviceLink({ address: origin, code, fingerprint });
  if (json) return printJson({ tool: tool.name, origin, link, role: given, expiresAt });
  print(`The host is reachable at ${origin}\n${tool.note}\n`);
  print(`Add a device (as ${given}, once, within five minutes):\n\n  ${link}\n`);
  print(await qrCode(link));
  print('Another device: atrium devices add. Ctrl+C closes the way again.');
}

function hostGone(client: Client): Promise<string> {
  return new Promise((resolve) => {
    client.onStatus(({ at }) => at !== 'open' && resolve('the host has stopped, and the way to it is closed'));
  });
}

/** Resolves when the person wants to stop. */
function stopSignal(): { readonly asked: Promise<undefined>; isAsked(): boolean; release(): void } {
  let isAsked = false;
  let ask: () => void = () => {};
  const asked = new Promise<undefined>((resolve) => {
    ask = () => {
      isAsked = true;
      resolve(undefined);
    };
  });
  for (const name of SIGNALS) io().signals.on(name, ask);
  const release = () => {
    for (const name of SIGNALS) io().signals.off(name, ask);
  };
  return { asked, isAsked: () => isAsked, release };
}
