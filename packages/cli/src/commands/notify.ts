/** `atrium notify`: the receivers of notifications when a session needs a person and nobody looks. */
import type { Client } from '@atrium/client';
import { WEBHOOK_FORMATS } from '@atrium/protocol/ahp-1';
import { Command, Option } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions, withOwnExamples } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import type { RuleOptions, WebhookOptions } from '../notify/notify-command.js';

const EXAMPLES = `
Browsers are added in the page, under Settings. Events: question, ended, failed, budget, automation. What is said: nothing,
title, or command, which also shows what would run.
${HOST_HELP}

Examples:
  $ atrium notify list
  $ atrium notify set 3f2a --quiet 22:00-07:00 --detail nothing
  $ atrium notify set 3f2a --session last --session 1f2e
  $ atrium notify test 3f2a
  $ atrium notify remove 3f2a
  $ atrium notify desktop on                   on the machine where the host runs
  $ atrium notify webhook add https://hooks.example/atrium
  $ atrium notify webhook add https://ntfy.sh/my-topic --format ntfy --events question,failed
  $ atrium notify webhook list
  $ atrium notify webhook test 3f2a
  $ atrium notify webhook remove 3f2a

Exit codes: 0 done, 1 an error, 2 called in a wrong way.`;

export function notifyCommand(): Command {
  const command = new Command('notify')
    .description('Manage notifications for sessions that need a person')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium notify --help shows all commands)');
  const webhook = new Command('webhook').description('Manage webhooks');
  for (const each of [adding(), listing(), removing(), testing()]) webhook.addCommand(part(each, 'notify webhook'));
  for (const each of [listing(), setting(), removing(), testing(), desktop(), webhook])
    command.addCommand(part(each, 'notify'));
  return command;
}

/** Makes errors come back to the one place that knows exit codes. */
function part(command: Command, group: string): Command {
  command.exitOverride().showHelpAfterError(`(atrium ${group} ${command.name()} --help shows all options)`);
  return withOwnExamples(command, group, EXAMPLES);
}

type Act = (client: Client, commands: typeof import('../notify/notify-command.js')) => Promise<void>;

async function act(host: HostOptions, work: Act): Promise<void> {
  const commands = await import('../notify/notify-command.js');
  await withClient(host, (client) => work(client, commands));
}

function listing(): Command {
  const command = new Command('list').description('List the receivers').addOption(jsonOption());
  return withHostOptions(command).action(() => {
    const { json, ...host } = command.opts<HostOptions & { json?: boolean }>();
    return act(host, (client, { list }) => list(client, { ...(json && { json }) }));
  });
}

function adding(): Command {
  const command = new Command('add')
    .description('Add a webhook; prints the secret for its signatures, once')
    .argument('<url>', 'https address on the internet')
    .option('--name <name>', 'its name')
    .addOption(new Option('--format <format>', 'format of the messages').choices(WEBHOOK_FORMATS).default('json'))
    .addOption(jsonOption());
  return withRule(withHostOptions(command)).action((url: string) => {
    const options = command.opts<HostOptions & WebhookOptions>();
    return act(options, (client, { addWebhook }) => addWebhook(client, url, options));
  });
}

function setting(): Command {
  const command = new Command('set')
    .description('Change the rule of a receiver')
    .argument('<receiver>', 'its id or name')
    .option('--name <name>', 'its name');
  return withRule(withHostOptions(command)).action((wanted: string) => {
    const options = command.opts<HostOptions & RuleOptions & { name?: string }>();
    return act(options, (client, { change }) => change(client, wanted, options));
  });
}

function removing(): Command {
  const command = new Command('remove').description('Remove a receiver').argument('<receiver>', 'its id or name');
  return withHostOptions(command).action((wanted: string) =>
    act(command.opts<HostOptions>(), (client, { remove }) => remove(client, wanted)),
  );
}

function testing(): Command {
  const command = new Command('test').description('Send a test notification').argument('<receiver>', 'its id or name');
  return withHostOptions(command).action((wanted: string) =>
    act(command.opts<HostOptions>(), (client, { test }) => test(client, wanted)),
  );
}

function desktop(): Command {
  const command = new Command('desktop')
    .description('Show notifications on the desktop of the machine where the host runs')
    .addArgument(new Command().createArgument('<state>', 'on or off').choices(['on', 'off']));
  return withHostOptions(command).action((state: string) =>
    act(command.opts<HostOptions>(), (client, { setDesktop }) => setDesktop(client, state === 'on')),
  );
}

function withRule(command: Command): Command {
  return command
    .option('--events <list>', 'events to send, separated by commas, or all')
    .option('--detail <level>', 'how much to say: nothing, title or command')
    .option('--quiet <hours>', 'quiet hours: 22:00-07:00, or off')
    .option('--time-zone <name>', 'time zone of the quiet hours (default: that of this machine)')
    .addOption(
      new Option('--session <id>', 'only for this session; may be repeated; all: for all sessions').argParser(
        (text: string, before: readonly string[] = []) => [...before, text],
      ),
    );
}
