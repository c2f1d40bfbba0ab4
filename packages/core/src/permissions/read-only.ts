/** Commands that only look, which modes allow by themselves: inside the session's folders, with known arguments. */
import { parseRule, type Rule } from './rules.js';

const READ_COMMANDS = [
  ...[
    'ls *',
    'cat *',
    'head *',
    'tail *',
    'wc *',
    'nl *',
    'cut *',
    'tr *',
    'sort *',
    'grep *',
    'rg *',
    'find *',
    'fd *',
  ],
  ...[
    'stat *',
    'file *',
    'du *',
    'tree *',
    'diff *',
    'cmp *',
    'basename *',
    'dirname *',
    'realpath *',
    'readlink *',
    'jq *',
  ],
  ...[
    'sed -n *',
    'pwd',
    'echo *',
    'printf *',
    'true',
    'false',
    'test *',
    '[ *',
    'cd *',
    'which *',
    'date',
    'uname *',
    'whoami',
    'id',
  ],
  ...['md5sum *', 'sha1sum *', 'sha256sum *', 'seq *', 'expr *', 'node --version', 'npm --version', 'git --version'],
];

/** A repository may name programs that git runs even for these, so they count only in trusted folders. */
const GIT_READ_COMMANDS = [
  ...[
    'status',
    'diff',
    'log',
    'show',
    'blame',
    'ls-files',
    'rev-parse',
    'describe',
    'merge-base',
    'shortlog',
    'cat-file',
    'rev-list',
    'ls-tree',
  ].map((name) => `git ${name} *`),
  ...[
    'git branch',
    'git branch -a',
    'git branch -v',
    'git branch -vv',
    'git branch --show-current',
    'git remote',
    'git remote -v',
    'git stash list',
    'git tag',
  ],
];

const builtIn = (patterns: readonly string[]): readonly Rule[] =>
  patterns.map((pattern) => parseRule(`shell(${pattern})`, 'allow', 'built-in'));

let rules: { readonly plain: readonly Rule[]; readonly trusted: readonly Rule[] } | undefined;

/** The rules, parsed on first use: a host that only starts needs none. */
export function readOnlyRules({ isTrusted }: { readonly isTrusted: boolean }): readonly Rule[] {
  if (!rules) {
    const plain = builtIn(READ_COMMANDS);
    rules = { plain, trusted: [...plain, ...builtIn(GIT_READ_COMMANDS)] };
  }
  return isTrusted ? rules.trusted : rules.plain;
}
