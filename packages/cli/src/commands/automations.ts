/** `atrium automations`: messages that the host sends by itself. */

import type { Client } from '@atrium/client';
import type { AutomationEntry } from '@atrium/protocol/ahp-1';
import { Command, Option } from 'commander';
import type { Catalogue } from '../automations/host-automations.js';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions, withOwnExamples } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import { io, print, printJson, tell } from '../io.js';

const EXAMPLES = `
An automation is named by its id, by the beginning of it, or by its title. Each of its runs is a session like any other.
${HOST_HELP}

Examples:
  $ atrium automations create "run the tests, and say what fails" --title Nightly --cron "0 2 * * *"
  $ atrium automations create "look at this failure" --on-turn failed
  $ atrium automations create "update the docs" --on-files "src/**/*.ts" --worktree
  $ atrium automations list
  $ atrium automations show Nightly
  $ atrium automations run Nightly --wait
  $ atrium automations runs Nightly
  $ atrium automations cancel Nightly
  $ atrium automations disable Nightly
  $ atrium automations enable Nightly
  $ atrium automations remove Nightly

Exit codes: 0 done, 1 an error, no such automation or a run that did not complete, 2 called in a wrong way.`;

interface Options extends HostOptions {
  readonly json?: boolean;
  readonly wait?: boolean;
}

export function automationsCommand(): Command {
  const command = new Command('automations')
    .description('Let the host send messages by itself: on a schedule, on events, or now')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium automations --help shows all commands)');
  const all = [list(), show(), create(), switched('enable', true), switched('disable', false), remove()];
  for (const each of [...all, run(), runs(), cancel()]) {
    withHostOptions(each)
      .exitOverride()
      .showHelpAfterError(`(atrium automations ${each.name()} --help shows all options)`);
    command.addCommand(withOwnExamples(each, 'automations', EXAMPLES));
  }
  return command;
}

interface Found {
  readonly client: Client;
  readonly catalogue: Catalogue;
  readonly entry: AutomationEntry;
}

function withCatalogue<T>(options: Options, use: (client: Client, catalogue: Catalogue) => Promise<T>): Promise<T> {
  return withClient(options, async (client) => {
    const { catalogueOf } = await import('../automations/host-automations.js');
    return use(client, await catalogueOf(client));
  });
}

function withAutomation<T>(options: Options, reference: string, use: (found: Found) => Promise<T>): Promise<T> {
  return withCatalogue(options, async (client, catalogue) => {
    const { findAutomation } = await import('../automations/host-automations.js');
    return use({ client, catalogue, entry: findAutomation(catalogue.state, reference) });
  });
}

function of(name: string, description: string): Command {
  return new Command(name).description(description).argument('<automation>', 'which one');
}

function list(): Command {
  const command = new Command('list').description('List all automations').addOption(jsonOption());
  return command.action(() => {
    const options = command.opts<Options>();
    return withCatalogue(options, async (_client, { state }) => {
      const { entryRow } = await import('../automations/host-automations.js');
      if (options.json) return printJson(state.entries);
      if (state.entries.length === 0)
        return print('There are no automations. Make one with: atrium automations create "…" --cron "0 2 * * *"');
      const { table } = await import('../text/table.js');
      const rows = state.entries.map((entry) => entryRow(entry, Date.now()));
      print(table([['ID', 'NEXT', 'LAST', 'FOLDER', 'TITLE'], ...rows], io().stdout.columns));
    });
  });
}

function show(): Command {
  const command = of('show', 'Print an automation as JSON');
  return command.action((reference: string) =>
    withAutomation(command.opts<Options>(), reference, async ({ entry }) => print(JSON.stringify(entry, undefined, 2))),
  );
}

function create(): Command {
  const command = new Command('create')
    .description('Make an automation for this folder')
    .argument('[message]', 'message to send')
    .option('--title <title>', 'what it is called')
    .option('--cron <expressions...>', 'when it runs: minute, hour, day, month, weekday')
    .option('--time-zone <zone>', 'time zone of --cron (that of this machine)')
    .option('--catch-up', 'run once for times at which the host was off')
    .addOption(
      new Option('--on-turn <ends...>', 'run when a turn in the folder ends').choices([
        'completed',
        'failed',
        'cancelled',
      ]),
    )
    .option('--on-files <patterns...>', 'run when such files in the folder change')
    .option('--on-push <provider>', 'run when this provider sends an event')
    .option('--cwd <folder>', 'folder to work in (this one)')
    .option('--agent <id>', 'agent of its sessions')
    .option('--model <id>', 'model to use')
    .option('--worktree', 'a git worktree of its own for each run')
    .option('--off', 'do not switch it on yet')
    .option('--file <file>', 'take the whole definition from a JSON file instead')
    .addOption(jsonOption());
  return command.action((message: string | undefined) => {
    const options = command.opts<Options>();
    return withCatalogue(options, async (_client, catalogue) => {
      const { createAutomation, idOf, localTime } = await import('../automations/host-automations.js');
      const { definitionFrom } = await import('../automations/definition.js');
      const entry = await createAutomation(catalogue, await definitionFrom(message, command.opts()));
      if (options.json) return printJson(entry);
      const next = entry.nextRunAt === undefined ? '' : ` It runs next at ${localTime(entry.nextRunAt)}.`;
      print(`Made ${idOf(entry.resource)}.${next}`);
    });
  });
}

function switched(name: 'enable' | 'disable', enabled: boolean): Command {
  const command = of(name, enabled ? 'Switch an automation on' : 'Switch an automation off: then it runs only by hand');
  return command.action((reference: string) =>
    withAutomation(command.opts<Options>(), reference, async ({ catalogue, entry }) => {
      const { switchAutomation } = await import('../automations/host-automations.js');
      await switchAutomation(catalogue, entry, enabled);
      tell(enabled ? 'It is on.' : 'It is off.');
    }),
  );
}

function remove(): Command {
  const command = of('remove', 'Remove an automation with its history; its sessions stay').alias('rm');
  return command.action((reference: string) =>
    withAutomation(command.opts<Options>(), reference, async ({ catalogue, entry }) => {
      await catalogue.dispatch({ type: 'automation/removed', resource: entry.resource });
      tell('It is removed.');
    }),
  );
}

function run(): Command {
  const command = of('run', 'Run an automation now')
    .option('--wait', 'wait for the end; fail unless the run completes')
    .addOption(jsonOption());
  return command.action((reference: string) => {
    const options = command.opts<Options>();
    return withAutomation(options, reference, async ({ client, entry }) => {
      const { checkOutcome, endOfRun, idOf, runRow, startRun } = await import('../automations/host-automations.js');
      const started = await startRun(client, entry);
      if (!options.wait) return options.json ? printJson({ resource: started }) : print(`Started ${idOf(started)}.`);
      const ended = await endOfRun(client, started);
      if (options.json) printJson(ended);
      else print(runRow(ended).filter(Boolean).join('  '));
      checkOutcome(ended);
    });
  });
}

function runs(): Command {
  const command = of('runs', 'List its runs and how they ended, newest first').addOption(jsonOption());
  return command.action((reference: string) => {
    const options = command.opts<Options>();
    return withAutomation(options, reference, async ({ client, catalogue, entry }) => {
      const { allRunsOf, runRow } = await import('../automations/host-automations.js');
      const all = await allRunsOf(client, catalogue, entry.resource);
      if (options.json) return printJson(all);
      if (all.length === 0) return print('It has not run yet.');
      const { table } = await import('../text/table.js');
      print(table([['BEGUN', 'STATE', 'WHY', 'SESSION', ''], ...all.map(runRow)], io().stdout.columns));
    });
  });
}

function cancel(): Command {
  const command = of('cancel', 'Stop the current run');
  return command.action((reference: string) =>
    withAutomation(command.opts<Options>(), reference, async ({ client, entry }) => {
      const { cancelRun } = await import('../automations/host-automations.js');
      const { lifecycle } = await cancelRun(client, entry);
      tell(`The run is ${lifecycle.status}.`);
    }),
  );
}
