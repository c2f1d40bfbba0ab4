/** `atrium cluster`: several hosts on one PostgreSQL. The work is in `cluster/cluster-work.ts`, loaded when it is needed. */
import { Command } from 'commander';
import { jsonOption, withOwnExamples } from '../connect/host-options.js';

const EXAMPLES = `
Several hosts on one PostgreSQL: one is active, the others stand by and take over when it is gone. Where the engine is, the
environment says: ATRIUM_CLUSTER_URL=postgres://user@host/database?sslmode=verify-full, with the password in
the file of ATRIUM_CLUSTER_PASSWORD_FILE or PGPASSFILE.

Examples:
  $ atrium cluster init                         make the tables, once; or bring them to this release
  $ atrium cluster import ~/.local/share/atrium --shared-dir /mnt/work/.atrium
  $ atrium cluster volume /mnt/work             a folder that all hosts share
  $ atrium cluster status                       hosts, terms, the engine and its stand-bys
  $ atrium cluster restored                     after a backup of the engine was restored
  $ atrium cluster drain b                      ask a host to leave when its turns have ended
  $ atrium doctor --cluster                     what is wrong, and what to do

Exit codes: 0 done, 1 an error, 2 called in a wrong way, 6 a host has the data folder.`;

export function clusterCommand(): Command {
  const command = new Command('cluster')
    .description('Run several hosts as one, on PostgreSQL')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium cluster --help shows all commands)');
  const load = () => import('../cluster/cluster-work.js');
  command
    .command('init')
    .description('Make the tables, or bring them to this release')
    .action(async () => (await load()).init());
  const status = command.command('status').description('Show the hosts and the engine').addOption(jsonOption());
  status.action(async () => (await load()).status(status.opts<{ json?: boolean }>()));
  command
    .command('drain')
    .description('Ask a host to leave when its turns have ended')
    .argument('<host>', 'its id')
    .action(async (host: string) => (await load()).drain(host));
  command
    .command('volume')
    .description('Mark a folder that all hosts share')
    .argument('<folder>', 'the same path on every machine')
    .action(async (folder: string) => (await load()).volume(folder));
  const bring = command
    .command('import')
    .description('Take over the history of a single host, which must not run')
    .argument('<data-folder>', 'its data folder, which does not change')
    .option('--shared-dir <folder>', 'copy contents and changes there');
  bring.action(async (folder: string) => (await load()).importHistory(folder, bring.opts<{ sharedDir?: string }>()));
  command
    .command('restored')
    .description('Tell the cluster that the engine was restored from a backup: clients get fresh states')
    .action(async () => (await load()).restored());
  for (const each of command.commands) withOwnExamples(each, 'cluster', EXAMPLES);
  return command;
}
