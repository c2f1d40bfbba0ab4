/** The protocol reference: Markdown pages, made from the schemas alone. */
import { PROVIDER_PROTOCOL_VERSION } from '../../src/provider/limits.js';
import type { SchemaNode } from '../../src/schema/node.js';
import { AHP_1_VERSION } from '../../src/versions/agreement.js';
import { codeTables } from './codes.js';
import { allEntries, definitions, type Entry, GROUPS } from './entries.js';
import { anchorOf, PAGES, type Page, pageOfDefinition } from './layout.js';
import { body, type Writer } from './text.js';

const GENERATED = '<!-- Made by `npm run generate` from packages/protocol/src. Do not edit. -->';

/** File name to content. */
export function referencePages(): Map<string, string> {
  const placed = placedEntries();
  const pages = PAGES.map((page): [string, string] => [`${page.name}.md`, pageText(page, placed)]);
  return new Map([['README.md', indexText(placed)], ...pages]);
}

type Placed = ReadonlyMap<Page, readonly Entry[]>;

function placedEntries(): Placed {
  const pageOf = pageOfDefinition();
  const placed = new Map<Page, Entry[]>(PAGES.map((page) => [page, []]));
  for (const entry of allEntries()) {
    const page = pageOf.get(entry.definitions[0] ?? '');
    if (!page) throw new Error(`${entry.name} has no page: add its file to PAGES in layout.ts`);
    placed.get(page)?.push(entry);
  }
  return placed;
}

function pageText(page: Page, placed: Placed): string {
  const entries = placed.get(page) ?? [];
  const writer: Writer = { definitions, link: (name) => linkTo(name, placed, page) };
  const groups = GROUPS.flatMap((group) => {
    const members = entries.filter((entry) => entry.group === group);
    return members.length === 0 ? [] : [`## ${group}`, ...members.map((entry) => entryText(entry, writer))];
  });
  const codes = codeTables(page.name);
  const parts = [
    GENERATED,
    `# ${page.title}`,
    page.intro,
    '[All pages](README.md)',
    ...(codes ? [codes] : []),
    ...groups,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** A link to the description of a definition. Actions are listed by their type, everything else by its name. */
function linkTo(name: string, placed: Placed, from: Page): string {
  for (const [page, entries] of placed) {
    const entry = entries.find((candidate) => candidate.definitions.includes(name));
    if (!entry) continue;
    const text = entry.group === 'Actions' ? `\`${entry.name}\`` : name;
    return `[${text}](${page === from ? '' : `${page.name}.md`}#${anchorOf(headingOf(entry))})`;
  }
  throw new Error(`nothing describes ${name}`);
}

/** Anchors that messages have: a type of the same name, such as `TerminalExited`, gets another one. */
const MESSAGE_ANCHORS = new Set(
  allEntries().flatMap(({ group, name }) => (group === 'Types' || group === 'State' ? [] : [anchorOf(name)])),
);

function headingOf({ group, name }: Entry): string {
  if (group !== 'Types' && group !== 'State') return `\`${name}\``;
  return MESSAGE_ANCHORS.has(anchorOf(name)) ? `${name} (type)` : name;
}

function entryText(entry: Entry, writer: Writer): string {
  const { note, definitions: names } = entry;
  const [first, result] = names.map((definition) => schemaOf(definition));
  const heading = `### ${headingOf(entry)}`;
  const intro = [first?.description, note].filter(Boolean).join(' ');
  const parts = [heading, intro, ...(first ? [body(first, writer)] : [])];
  if (result) parts.push(...resultText(result, writer));
  return parts.join('\n\n');
}

function resultText(result: SchemaNode, writer: Writer): string[] {
  if (result.type === 'null') return [`**Result.** \`null\`. ${result.description}`];
  return [`**Result.** ${result.description}`, body(result, writer)];
}

const schemaOf = (name: string): SchemaNode => (definitions.get(name) ?? {}) as SchemaNode;

/** The contents of all pages, one table for each kind. */
function indexText(placed: Placed): string {
  const pages = PAGES.map(({ name, title, intro }) => `| [${title}](${name}.md) | ${firstSentence(intro)} |`);
  const groups = GROUPS.filter((group) => group !== 'Types').map((group) => {
    const rows = [...placed].flatMap(([page, entries]) =>
      entries.filter((entry) => entry.group === group).map((entry) => indexRow(entry, page)),
    );
    return [`## ${group}`, '', '| Name | Meaning |', '|---|---|', ...rows].join('\n');
  });
  return `${[GENERATED, INTRO, ['| Page | |', '|---|---|', ...pages].join('\n'), ...groups].join('\n\n')}\n`;
}

function indexRow(entry: Entry, page: Page): string {
  const {
    name,
    definitions: [first = ''],
  } = entry;
  return `| [\`${name}\`](${page.name}.md#${anchorOf(headingOf(entry))}) | ${schemaOf(first).description} |`;
}

const firstSentence = (text: string): string => text.replace(/\. .*/, '.');

const INTRO = `# Protocol reference

Every message of the Agent Host Protocol ${AHP_1_VERSION} and of the Provider Interface ${PROVIDER_PROTOCOL_VERSION}, with its members. The package
has the same as JSON Schema, in \`@atrium/protocol/schema/*.json\`. [Concepts](../concepts.md)
explains the terms, [the protocol package](../protocol.md) how to use it.

Between clients and the host:

- Frames are JSON-RPC 2.0, one in each text message. Commands are requests with an answer; notifications have none.
- Every \`params\` has a \`channel\`: what the message is about.
- State changes only by actions. A client dispatches one with \`dispatchAction\`; the host sends every accepted one with
  \`action\`, to all subscribers of its channel.
- Members that are not listed are legal and ignored. \`null\` means that a member is absent.

Between providers and the gateway, messages are plain JSON objects with a \`type\`. There, too, members that are not listed
are ignored, except [conditions of a rule](provider.md#providermatch): ignoring an unknown one would match too much.`;
