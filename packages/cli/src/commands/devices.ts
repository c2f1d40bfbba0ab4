/** `atrium devices`: lists, adds, changes and removes devices. */
import path from 'node:path';
import type { Client } from '@atrium/client';
import {
  type AddDeviceParams,
  CHANGE_DEVICE_METHOD,
  type ChangeDeviceParams,
  RELEASE_CLIENT_METHOD,
  REMOVE_DEVICE_METHOD,
  ROLES,
  ROTATE_TOKEN_METHOD,
} from '@atrium/protocol/ahp-1';
import { Command, InvalidArgumentError, Option } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions, withOwnExamples } from '../connect/host-options.js';
import { callExtension, withClient } from '../connect/with-client.js';
import { UsageError } from '../exit.js';
import { io, print, printJson } from '../io.js';

const HELP = `
A device is a browser, a phone or a program that you let in, with a token of its own that you can take away. Roles: viewer reads along, approver also answers questions, driver works with sessions and files, owner does everything.
${HOST_HELP}

Examples:
  $ atrium devices list                             who was let in, and when each was last here
  $ atrium devices add --role approver              a code for one device, as QR and as a link
  $ atrium devices add --name Phone --until 2030-01-31
  $ atrium devices rename "Chrome on Linux" Desk    by name, or by id
  $ atrium devices change Phone --role viewer       from now on, also where it is connected
  $ atrium devices change Phone --folder . --until 2030-01-31
  $ atrium devices change Phone --no-folders --no-until
  $ atrium devices remove Phone                     it is out at once
  $ atrium devices rotate                           another connection token for this host
  $ atrium devices release 1f2e3d                   let another device use this client id

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 5 only the owner may do this.`;

export function devicesCommand(): Command {
  const command = new Command('devices')
    .description('List, add, change and remove devices')
    .addHelpText('after', HELP)
    .showHelpAfterError('(atrium devices --help shows all options)');
  for (const each of [list(), add(), rename(), change(), remove(), rotate(), release()]) {
    withHostOptions(each);
    command.addCommand(withOwnExamples(each, 'devices', HELP).exitOverride());
  }
  return command;
}

interface JsonChoice extends HostOptions {
  readonly json?: boolean;
}

function list(): Command {
  const command = new Command('list').description('List the devices').addOption(jsonOption());
  return command.action(() => {
    const options = command.opts<JsonChoice>();
    return withClient(options, async (client) => {
      const { deviceLines, listDevices } = await import('../devices.js');
      const devices = await listDevices(client);
      if (options.json) return printJson(devices.items);
      if (devices.items.length === 0) return print('No device was let in. Add one with: atrium devices add');
      for (const line of deviceLines(devices)) print(line);
    });
  });
}

interface AddOptions extends JsonChoice {
  readonly role?: AddDeviceParams['role'];
  readonly name?: string;
  readonly sessions?: readonly string[];
  readonly folders?: readonly string[];
  readonly until?: string;
}

/** A value of `false` removes the bound. */
interface ChangeOptions extends HostOptions {
  readonly role?: AddDeviceParams['role'];
  readonly sessions?: readonly string[] | false;
  readonly folders?: readonly string[] | false;
  readonly until?: string | false;
}

function add(): Command {
  const command = new Command('add')
    .description('Make a code that lets one device in')
    .addOption(new Option('--role <role>', 'what it may do; driver, if left out').choices([...ROLES]))
    .option('--name <name>', 'its name; the device names itself if left out')
    .option('--session, --sessions <session...>', 'only these sessions')
    .option('--folder, --folders <folder...>', 'only sessions in these folders')
    .option('--until <time>', 'end of its access: 2030-01-31, or 2030-01-31T12:00:00Z', time)
    .addOption(jsonOption());
  return command.action(() => {
    const options = command.opts<AddOptions>();
    return withClient(options, async (client) => {
      const { inviteDevice, invitationText } = await import('../devices.js');
      const { role, name, until, sessions = [], folders = [] } = options;
      const bounds = {
        ...(sessions.length > 0 && { sessions: await sessionsNamed(client, sessions) }),
        ...(folders.length > 0 && { folders: foldersNamed(folders) }),
      };
      const hasBounds = sessions.length + folders.length > 0;
      const invitation = await inviteDevice(client, {
        ...(role && { role }),
        ...(name !== undefined && { name }),
        ...(until !== undefined && { until }),
        ...(hasBounds && { bounds }),
      });
      if (options.json) return printJson(invitation);
      print(await invitationText(invitation));
    });
  });
}

async function sessionsNamed(client: Client, names: readonly string[]): Promise<string[]> {
  const { findSession } = await import('../sessions/find-session.js');
  const listed = await client.listSessions();
  return names.map((name) => findSession(listed, name).resource);
}

function foldersNamed(folders: readonly string[]): string[] {
  return folders.map((folder) => path.resolve(io().cwd, folder));
}

function time(text: string): string {
  const parsed = Date.parse(text);
  if (Number.isFinite(parsed)) return new Date(parsed).toISOString();
  throw new InvalidArgumentError('Give a time such as 2030-01-31 or 2030-01-31T12:00:00Z.');
}

function rename(): Command {
  const command = new Command('rename')
    .description('Give a device another name')
    .argument('<device>', 'its name or id')
    .argument('<name>', 'the new one');
  return command.action((device: string, name: string) =>
    withClient(command.opts<HostOptions>(), async (client) => {
      const { findDevice, listDevices } = await import('../devices.js');
      const { id } = findDevice((await listDevices(client)).items, device);
      await callExtension(client, CHANGE_DEVICE_METHOD, { id, name });
      print('Renamed.');
    }),
  );
}

function change(): Command {
  const command = new Command('change')
    .description('Change what a device may do, also while it is connected')
    .argument('<device>', 'its name or id')
    .addOption(new Option('--role <role>', 'what it may do').choices([...ROLES]))
    .option('--session, --sessions <session...>', 'only these sessions')
    .option('--no-sessions', 'remove the bound on sessions')
    .option('--folder, --folders <folder...>', 'only sessions in these folders')
    .option('--no-folders', 'remove the bound on folders')
    .option('--until <time>', 'end of its access: 2030-01-31, or 2030-01-31T12:00:00Z', time)
    .option('--no-until', 'without an end');
  return command.action((device: string) => {
    const { role, sessions, folders, until } = command.opts<ChangeOptions>();
    if ([role, sessions, folders, until].every((each) => each === undefined))
      throw new UsageError('say what to change: --role, --sessions, --folders, --until, or a --no- of the last three');
    return withClient(command.opts<HostOptions>(), async (client) => {
      const { accessText, findDevice, listDevices } = await import('../devices.js');
      const { id } = findDevice((await listDevices(client)).items, device);
      const bounds = {
        ...(sessions !== undefined && { sessions: sessions ? await sessionsNamed(client, sessions) : null }),
        ...(folders !== undefined && { folders: folders ? foldersNamed(folders) : null }),
      };
      const params: ChangeDeviceParams = {
        ...{ id, bounds },
        ...(role && { role }),
        ...(until !== undefined && { until: until || null }),
      };
      await callExtension(client, CHANGE_DEVICE_METHOD, params);
      print(accessText(findDevice((await listDevices(client)).items, id)));
    });
  });
}

function remove(): Command {
  const command = new Command('remove')
    .description('Remove a device and end its connections')
    .argument('<device>', 'its name or id');
  return command.action((device: string) =>
    withClient(command.opts<HostOptions>(), async (client) => {
      const { findDevice, listDevices } = await import('../devices.js');
      const { id, name } = findDevice((await listDevices(client)).items, device);
      const { closed } = (await callExtension(client, REMOVE_DEVICE_METHOD, { id })) as { closed?: number };
      const { printable } = await import('../text/printable.js');
      print(`${printable(name)} is out. Connections that were closed: ${closed ?? 0}.`);
    }),
  );
}

function rotate(): Command {
  const command = new Command('rotate').description('Replace the connection token of this host');
  return command.action(() =>
    withClient(command.opts<HostOptions>(), async (client) => {
      const { closing } = (await callExtension(client, ROTATE_TOKEN_METHOD)) as { closing?: number };
      print('The host has a new connection token, in the same file. Devices keep their own.');
      print(
        `Cut off: ${closing ?? 0} connections with the old one, this command among them, and pages that came by its link.`,
      );
      print('Commands on this machine find the new one by themselves; open pages with the new link of the host.');
    }),
  );
}

function release(): Command {
  const command = new Command('release')
    .description('Let another device use a client id')
    .argument('<client-id>', 'which one');
  return command.action((clientId: string) =>
    withClient(command.opts<HostOptions>(), async (client) => {
      const { wasKnown } = (await callExtension(client, RELEASE_CLIENT_METHOD, { clientId })) as { wasKnown?: boolean };
      print(wasKnown ? 'It is free.' : 'The host knows no such client id.');
    }),
  );
}
