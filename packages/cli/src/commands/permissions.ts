/** `atrium permissions`: the rules for what agents may do without asking. */
import { Command, Option } from 'commander';
import { HOST_HELP, type HostOptions, jsonOption, withHostOptions } from '../connect/host-options.js';
import { withClient } from '../connect/with-client.js';
import { ExitCode, QuietExit, UsageError } from '../exit.js';
import { io, print, printJson } from '../io.js';

const EXAMPLES = `
A rule is a tool, or a tool with a pattern. Deny beats ask beats allow. Without --session, the rules of the host and your own.
${HOST_HELP}

Examples:
  $ atrium permissions                                  all rules, where they are from, and when they last decided
  $ atrium permissions add allow 'shell(git diff *)'    one more of your own
  $ atrium permissions add deny 'edit(.env)' --scope project --session 1f2e
  $ atrium permissions remove allow 'shell(git diff *)'
  $ atrium permissions test 'git status; rm -rf ~'      what would be decided; nothing runs

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 4 no such session, 5 the tested command is not allowed.`;

interface Options extends HostOptions {
  readonly session?: string;
  readonly scope: string;
  readonly json?: boolean;
}

export function permissionsCommand(): Command {
  const command = new Command('permissions')
    .description('List, add, remove and try permission rules')
    .argument('[action]', 'list, add, remove or test', 'list')
    .argument('[words...]', 'add and remove: allow, ask or deny, and the rule; test: the command')
    .option('--session <session>', 'with the rules of this session and its project')
    .addOption(
      new Option('--scope <scope>', 'whose rule it is').choices(['session', 'project', 'person']).default('person'),
    )
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium permissions --help shows all options)');
  withHostOptions(command);
  return command.action((action: string, words: string[]) => permissions(action, words, command.opts<Options>()));
}

async function permissions(action: string, words: readonly string[], options: Options): Promise<void> {
  const { session, scope, json = false, ...host } = options;
  const { addRule, effectIn, listRules, removeRule, rulesText, scopeIn, testCommand, verdictText } = await import(
    '../permission-rules.js'
  );
  const [effect, ...rest] = words;
  const rule = rest.join(' ');
  if (!['list', 'add', 'remove', 'test'].includes(action))
    throw new UsageError(`say list, add, remove or test, not ${action}`);
  if (action === 'test' && words.length === 0)
    throw new UsageError('say which command: atrium permissions test "git push"');
  if ((action === 'add' || action === 'remove') && rule === '')
    throw new UsageError(`say which rule: atrium permissions ${action} allow 'shell(git diff *)'`);
  await withClient(host, async (client) => {
    const { findSession } = await import('../sessions/find-session.js');
    const where = session === undefined ? {} : { channel: findSession(await client.listSessions(), session).resource };
    if (action === 'test') {
      const permission = await testCommand(client, where, words.join(' '));
      if (json) printJson(permission);
      else print(verdictText(permission));
      if (permission.effect !== 'allow') throw new QuietExit(ExitCode.Denied);
      return;
    }
    if (action !== 'list') {
      const placed = { ...where, scope: scopeIn(scope), effect: effectIn(effect), rule };
      if (action === 'add') await addRule(client, placed);
      else if (!(await removeRule(client, placed)))
        throw new Error(`there is no rule ${placed.effect} ${rule} of the ${scope}`);
    }
    const list = await listRules(client, where);
    if (json) return printJson(list);
    print(rulesText(list, io().stdout.columns ?? 100));
  });
}
