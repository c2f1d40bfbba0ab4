/** Makes one text of the rendered sections. Safety comes last, unchanged, whatever else stands before it. */

const SAFETY = 'safety';
const ENVIRONMENT = 'environment_context';

export function systemPrompt(sections: ReadonlyMap<string, string>, folder: string | undefined): string {
  const others = [...sections].filter(([id]) => id !== SAFETY);
  const texts = others.map(([id, text]) => (id === ENVIRONMENT ? withFolder(text, folder) : text));
  const safety = sections.get(SAFETY) ?? '';
  return [...texts.map((text) => text.trim()), safety].filter((text) => text !== '').join('\n\n');
}

function withFolder(text: string, folder: string | undefined): string {
  return folder === undefined ? text : `${text}\nThe folder is ${folder}.`;
}
