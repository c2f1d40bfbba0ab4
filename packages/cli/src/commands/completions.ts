/** `atrium completions`: what shells need to complete commands and options. */

import { Argument, Command } from 'commander';
import { io } from '../io.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const EXAMPLES = `
Examples:
  $ source <(atrium completions bash)                               in ~/.bashrc
  $ source <(atrium completions zsh)                                in ~/.zshrc
  $ atrium completions fish > ~/.config/fish/completions/atrium.fish

Exit codes: 0 done, 2 called in a wrong way.`;

/** `root`: the whole program, once it is complete. */
export function completionsCommand(root: () => Command): Command {
  const command = new Command('completions')
    .description('Print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium completions --help shows examples)');
  return command.action(async (shell: (typeof SHELLS)[number]) => {
    const { completionScript } = await import('../completion-script.js');
    io().stdout.write(completionScript(shell, root()));
  });
}
