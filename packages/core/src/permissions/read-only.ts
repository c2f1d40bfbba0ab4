/** Commands that only look, which modes allow by themselves: in the session's folders, with arguments that are known. */
import { parseRule, type Rule } from './rules.js';

const LOOKS = [
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

/** A repository may name programs that git runs even to look, so these count in trusted folders only. */
const GIT_LOOKS = [
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

export const READ_ONLY_RULES: readonly Rule[] = builtIn(LOOKS);
export const TRUSTED_READ_ONLY_RULES: readonly Rule[] = [...READ_ONLY_RULES, ...builtIn(GIT_LOOKS)];
