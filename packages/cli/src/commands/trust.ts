/** `atrium trust`: which folders may start the programs that they declare. */

import { Command, Option } from 'commander';
import type { TrustOptions } from '../trust-folder.js';

const EXAMPLES = `
A folder's atrium.json, plugins and hooks may start programs only when you trust the folder. You see every program before
you say yes, and your yes is for exactly these: when the folder declares another one, you are asked again. A host that
runs already sees the change within a second. What runs when you trust a folder no longer goes on until its session ends.
Without a terminal to ask in, as in a script, the command trusts the listed programs at once.

Examples:
  $ atrium trust .                 this folder may, once you have seen what it starts
  $ atrium trust --yes .           without a question
  $ atrium trust --remove .        it may no longer
  $ atrium trust --list            all that may

Exit codes: 0 done, 1 the folder does not exist or you said no, 2 called in a wrong way.`;

export function trustCommand(): Command {
  const command = new Command('trust')
    .description('Let a folder start the programs that it declares')
    .argument('[folder]', 'the folder to trust')
    .option('--remove', 'stop trusting it')
    .option('--yes', 'trust it without a question')
    .option('--list', 'show all trusted folders')
    .option('--json', 'with --list: print JSON and nothing else')
    .addOption(new Option('--data-dir <folder>', 'data folder that remembers it').env('ATRIUM_DATA_DIR'))
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium trust --help shows all options)');
  return command.action(async (folder: string | undefined) => {
    const { trust } = await import('../trust-folder.js');
    await trust(folder, command.opts<TrustOptions>());
  });
}
