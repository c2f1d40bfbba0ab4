/**
 * The rules in `docs/spec` and the tests that prove them. Every id that a test title names is defined once, every defined
 * id has a test or a reason why it has none, and `docs/generated/conformance.md` lists both. `npm test` checks all of it;
 * `node scripts/spec.mjs --write` makes the table anew.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { green, ROOT, red, runMain } from './process.mjs';

const PAGES = 'docs/spec';
/** Outside of `PAGES`: who searches for a rule there finds the rule. */
const TABLE = 'docs/generated/conformance.md';
/** Defines no rules. */
const INTRODUCTION = `${PAGES}/README.md`;
/** Shared suites, such as the one for agents, are part of `src`, because they ship. */
const TEST_PLACES = ['test', 'packages'];
const NO_TESTS = new Set(['node_modules', 'dist', 'generated', 'coverage', 'fixtures', 'schema']);

const ID = /\[([A-Z][A-Z0-9]{1,4}-\d{3})\]/g;
const RULE = /^- \*\*\[([A-Z][A-Z0-9]{1,4}-\d{3})\]\*\* (.*)$/;
const OMITTED = /\s*\*Omitted:\*\s*(.*)$/;
const TITLE_MAX_CHARACTERS = 100;
/** More titles than this of one file are counted, not listed. */
const TITLES_PER_FILE_MAX = 2;

/**
 * `file` is a path from the root, with slashes. A rule with `omitted` has no test, and `omitted` says why.
 * @typedef {{ id: string, text: string, omitted?: string, file: string, line: number }} Rule
 * @typedef {{ id: string, group: string, title: string, file: string, line: number }} Proof
 * @typedef {{ rules: Rule[], proofs: Proof[], problems: string[] }} Spec
 */

/** Reads the rules and the test titles of the repository at `root`. @param {string} root @returns {Spec} */
export function readSpec(root) {
  const pages = filesIn(root, PAGES, /\.md$/).filter((file) => file !== INTRODUCTION);
  const read = pages.map((file) => rulesOf(file, readFileSync(path.join(root, file), 'utf8')));
  const rules = read.flatMap((page) => page.rules);
  const proofs = TEST_PLACES.flatMap((place) => filesIn(root, place, /\.[cm]?[jt]sx?$/)).flatMap((file) =>
    proofsOf(file, readFileSync(path.join(root, file), 'utf8')),
  );
  return { rules, proofs, problems: [...read.flatMap((page) => page.problems), ...problemsOf(rules, proofs)] };
}

/** @param {string} file @param {string} text @returns {{ rules: Rule[], problems: string[] }} */
export function rulesOf(file, text) {
  /** @type {Rule[]} */
  const rules = [];
  /** @type {string[]} */
  const problems = [];
  let heading = '';
  for (const [index, line] of text.split('\n').entries()) {
    const [, id, words] = RULE.exec(line) ?? [];
    const last = rules.at(-1);
    if (id && words !== undefined) rules.push({ id, text: words, file, line: index + 1, ...omission(heading) });
    else if (/^\s*[-*]\s+\**\[[A-Z]/.test(line))
      problems.push(`${file}:${index + 1}: write a rule as "- **[ID]** The rule."`);
    else if (line.startsWith('#')) heading = line;
    // A rule may go on in indented lines right below it.
    else if (last && line.startsWith('  ') && index === last.line + continued(last)) last.text += `\n${line.trim()}`;
  }
  for (const rule of rules) problems.push(...settle(rule));
  return { rules, problems };
}

/** @param {string} heading @returns {{ omitted?: string }} */
function omission(heading) {
  return /^## Omissions\b/.test(heading) ? { omitted: '' } : {};
}

/** @param {Rule} rule */
function continued(rule) {
  return rule.text.split('\n').length - 1;
}

/** Takes the reason of an omission out of the text. @param {Rule} rule @returns {string[]} */
function settle(rule) {
  rule.text = rule.text.replaceAll('\n', ' ').trim();
  const reason = OMITTED.exec(rule.text)?.[1];
  const isListed = rule.omitted !== undefined;
  rule.text = rule.text.replace(OMITTED, '');
  if (reason !== undefined) rule.omitted = reason;
  const place = `${rule.file}:${rule.line}: [${rule.id}]`;
  if (rule.text === '') return [`${place} has no text`];
  if (isListed && !reason) return [`${place} is omitted without a reason; add "*Omitted:* why"`];
  if (!isListed && reason !== undefined) return [`${place} is omitted; move it under "## Omissions"`];
  return [];
}

/**
 * Every string with an id in brackets counts: titles stand in calls, in tables of cases and in constants. Files are
 * formatted, so a line and its indentation are all that is needed; comments do not count.
 * @param {string} file @param {string} text @returns {Proof[]}
 */
export function proofsOf(file, text) {
  if (text.search(ID) === -1) return [];
  /** @type {Proof[]} */
  const proofs = [];
  /** The groups that the line is in. @type {{ indent: number, title: string }[]} */
  let groups = [];
  for (const [index, line] of text.split('\n').entries()) {
    const indent = line.search(/\S/);
    if (indent === -1 || /^\s*(\/\/|\/?\*)/.test(line)) continue;
    groups = groups.filter((group) => group.indent < indent);
    const outer = groups.map(({ title }) => title).join(': ');
    for (const words of stringsIn(line)) {
      const title = withoutIds(words) || caseName(line);
      for (const [, id = ''] of words.matchAll(ID)) proofs.push({ id, group: outer, title, file, line: index + 1 });
    }
    const group = /^\s*describe\b/.test(line) ? stringsIn(line).at(-1) : undefined;
    if (group) groups.push({ indent, title: withoutIds(group) });
  }
  return proofs;
}

/** The strings of a line, with an ellipsis for what a template puts in. @param {string} line */
function stringsIn(line) {
  const found = [...line.matchAll(/(['"`])((?:\\.|(?!\1).)*)\1/g)];
  return found.map(([, , text = '']) => text.replaceAll(/\$\{[^}]*\}/g, '…').replaceAll(/\\(.)/g, '$1'));
}

/** A case of a table whose title is only an id has a key: `push: ['[XX-001] ', true]`. @param {string} line */
function caseName(line) {
  return /^\s*(\w+): \[/.exec(line)?.[1] ?? '';
}

/** @param {string} text */
function withoutIds(text) {
  return text.replaceAll(ID, '').replaceAll(/\s+/g, ' ').trim();
}

/**
 * In the order in which the keys come first. (`Map.groupBy` needs Node 21.)
 * @template T @param {readonly T[]} items @param {(item: T) => string} keyOf @returns {Map<string, T[]>}
 */
function groupBy(items, keyOf) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** @param {readonly Rule[]} rules @param {readonly Proof[]} proofs @returns {string[]} */
export function problemsOf(rules, proofs) {
  const problems = [];
  /** @type {Map<string, Rule>} */
  const defined = new Map();
  for (const rule of rules) {
    const first = defined.get(rule.id);
    if (first)
      problems.push(`${rule.file}:${rule.line}: [${rule.id}] is defined already in ${first.file}:${first.line}`);
    else defined.set(rule.id, rule);
  }
  const named = groupBy(proofs, ({ id }) => id);
  for (const [id, [proof]] of named) {
    const rule = defined.get(id);
    const place = `${proof?.file}:${proof?.line}: [${id}]`;
    if (!rule) problems.push(`${place} is not defined; write the rule into a page of ${PAGES}`);
    else if (rule.omitted !== undefined) problems.push(`${place} is tested, but ${rule.file}:${rule.line} omits it`);
  }
  for (const rule of defined.values()) {
    if (rule.omitted !== undefined || named.has(rule.id)) continue;
    problems.push(
      `${rule.file}:${rule.line}: no test names [${rule.id}]; put it into a title, or under "## Omissions" with a reason`,
    );
  }
  return problems;
}

/** The page with every rule and its tests. @param {Pick<Spec, 'rules' | 'proofs'>} spec */
export function conformanceTable({ rules, proofs }) {
  const byId = groupBy(proofs, ({ id }) => id);
  const pages = [...groupBy(rules, ({ id }) => prefixOf(id))].sort(([a], [b]) => compare(a, b));
  const omitted = rules.filter((rule) => rule.omitted !== undefined).length;
  const parts = [
    '# Conformance',
    '',
    '<!-- Made by `node scripts/spec.mjs --write`. Do not edit. -->',
    '',
    `Every rule in short, with the tests that name it: ${rules.length} rules, ${omitted} of them omitted with a reason, in ${
      new Set(proofs.map(({ file }) => file)).size
    } test files. [What the ids are](${fromTable(INTRODUCTION)}).`,
  ];
  for (const [prefix, group] of pages) {
    const links = [...new Set(group.map(({ file }) => linkTo(file)))];
    parts.push('', `## ${prefix}`, '', `Rules: ${links.join(', ')}`, '', '| Id | Rule | Tests |', '|---|---|---|');
    for (const rule of [...group].sort((a, b) => compare(a.id, b.id))) {
      parts.push(`| ${rule.id} | ${cell(firstSentence(rule.text))} | ${testsOf(rule, byId.get(rule.id) ?? [])} |`);
    }
  }
  return `${parts.join('\n')}\n`;
}

/** @param {Rule} rule @param {readonly Proof[]} proofs */
function testsOf(rule, proofs) {
  if (rule.omitted !== undefined) return cell(`Omitted: ${rule.omitted}`);
  const files = [...groupBy(proofs, ({ file }) => file)].sort(([a], [b]) => compare(a, b));
  return files
    .map(([file, inFile]) => {
      const listed = inFile.slice(0, TITLES_PER_FILE_MAX).map(({ group, title }, index) => {
        const isSameGroup = index > 0 && inFile[index - 1]?.group === group;
        return cell(literal(short([isSameGroup ? '' : group, title].filter(Boolean).join(': '))));
      });
      const more = inFile.length - listed.length;
      return [`${linkTo(file)} ${listed[0]}`, ...listed.slice(1), ...(more > 0 ? [`${more} more`] : [])].join(' · ');
    })
    .join('<br>');
}

/** @param {string} file */
function linkTo(file) {
  return `[${path.posix.basename(file)}](${fromTable(file)})`;
}

/** @param {string} file */
function fromTable(file) {
  return path.posix.relative(path.posix.dirname(TABLE), file);
}

/** Rules end in a full stop, and the next sentence begins with a capital, a code or a link. @param {string} text */
function firstSentence(text) {
  return /^.*?[.!?](?=\s+[A-Z`[“"]|$)/.exec(text)?.[0] ?? text;
}

/** @param {string} text */
function short(text) {
  if (text.length <= TITLE_MAX_CHARACTERS) return text;
  return `${text.slice(0, text.lastIndexOf(' ', TITLE_MAX_CHARACTERS) || TITLE_MAX_CHARACTERS).replace(/[,;:]$/, '')} …`;
}

/** Titles are plain text, not Markdown. @param {string} text */
function literal(text) {
  return text.replaceAll(/[\\`*_[\]<>]/g, '\\$&');
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', '\\|');
}

/** @param {string} id */
function prefixOf(id) {
  return id.slice(0, id.indexOf('-'));
}

/** @param {string} a @param {string} b */
function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}

/** @param {string} root @param {string} place @param {RegExp} kind @returns {string[]} */
function filesIn(root, place, kind) {
  const folder = path.join(root, place);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => compare(a.name, b.name))
    .flatMap((entry) => {
      const file = `${place}/${entry.name}`;
      if (entry.isDirectory()) return NO_TESTS.has(entry.name) ? [] : filesIn(root, file, kind);
      return entry.isFile() && kind.test(entry.name) ? [file] : [];
    });
}

/** Checks the repository at `root`, or writes its table. @param {string} root @param {{ write?: boolean }} [options] */
export function checkSpec(root, { write = false } = {}) {
  const spec = readSpec(root);
  const table = conformanceTable(spec);
  const file = path.join(root, TABLE);
  if (write) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, table);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== table)
    spec.problems.push(`${TABLE}: not up to date; run "node scripts/spec.mjs --write"`);
  return spec;
}

function main() {
  const { rules, problems } = checkSpec(ROOT, { write: process.argv.includes('--write') });
  for (const problem of problems) console.error(`${red('error')} ${problem}`);
  if (problems.length === 0) console.log(green(`${rules.length} rules, each with its tests`));
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await runMain(main);
