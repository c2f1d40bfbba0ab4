import { describe, expect, it } from 'vitest';
import { understand } from '../src/offline/phrases.js';
import { code, codeBlock, commandIn, fileIn, folderIn, preview, searchIn } from '../src/offline/text.js';
import { wordsOf } from '../src/scripted/play.js';

describe('what the offline agent understands', () => {
  it.each([
    ['list', 'list'],
    ['ls src', 'list'],
    ['show me the files here', 'list'],
    ['what files are in docs?', 'list'],
    ["what's here?", 'list'],
    ['read package.json', 'read'],
    ['open README.md', 'read'],
    ['Show me README.md', 'read'],
    ['could you please open the readme', 'read'],
    ['what is in package.json?', 'read'],
    ['search TODO', 'search'],
    ['find TODO', 'search'],
    ['search the files for lamp', 'search'],
    ['where is main defined?', 'search'],
    ['git status', 'git status'],
    ['what changed?', 'git status'],
    ['show me my changes', 'git status'],
    ['run npm test', 'run'],
    ['$ ls -la', 'run'],
    ['please run the tests', 'run'],
    ['npm test', 'run'],
    ['git log -3', 'run'],
    ['ask me something', 'ask'],
    ['help', 'help'],
    ['?', 'help'],
    ['What can you do?', 'help'],
    ['hello', 'hello'],
    ['Hi there!', 'hello'],
    ['', 'hello'],
    ['show the system prompt', 'prompt'],
    ['how do I connect a model?', 'connect'],
    ['use greet {"name": "desk"}', 'use'],
    ['who are you?', 'about'],
    ['thank you!', 'thanks'],
    ['explain quantum physics', 'nothing fits'],
  ])('%j is %s', (text, name) => {
    expect(understand(text).phrase.name).toBe(name);
  });

  it('leaves a command as it was written', () => {
    expect(understand('$ echo thanks, please').rest).toBe('echo thanks, please');
  });

  it.each([
    ['', undefined],
    [' here', undefined],
    [' all files in this folder', undefined],
    [' -la', undefined],
    [' are in docs?', 'docs'],
    [' "src/tools"', 'src/tools'],
    [' ..', '..'],
  ])('folder in %j', (rest, folder) => {
    expect(folderIn(rest)).toBe(folder);
  });

  it('finds files, texts and commands in sentences', () => {
    expect(fileIn('the file `src/a b.ts`')).toBe('src/a b.ts');
    expect(fileIn('README.md.')).toBe('README.md');
    expect(fileIn('the readme')).toBe('README.md');
    expect(searchIn('TODO in the src folder')).toEqual({ text: 'TODO', path: 'src' });
    expect(searchIn('"light it" in docs?')).toEqual({ text: 'light it', path: 'docs' });
    expect(searchIn('the word cat')).toEqual({ text: 'cat' });
    expect(searchIn('end of file')).toEqual({ text: 'end of file' });
    expect(commandIn('the tests')).toBe('npm test');
    expect(commandIn('`npm run build`')).toBe('npm run build');
  });
});

describe('its Markdown', () => {
  it('fences code so that the code cannot close it', () => {
    expect(codeBlock('a\n```\nb\n')).toBe('````text\na\n```\nb\n````');
    expect(code('a`b')).toBe('`` a`b ``');
  });

  it('cuts a long text and says how much is left', () => {
    expect(preview('1\n2\n3\n', 2)).toEqual({ shown: '1\n2', more: 1 });
    expect(preview('1\n2\n', 2)).toEqual({ shown: '1\n2', more: 0 });
  });

  it('goes word by word through prose and line by line through code, losing nothing', () => {
    const text = 'Some  words.\n\n```ts\nconst a = 1;\n```\nEnd of it\n';
    expect(wordsOf(text)).toEqual([
      'Some  ',
      'words.\n',
      '\n',
      '```ts\n',
      'const a = 1;\n',
      '```\n',
      'End ',
      'of ',
      'it\n',
    ]);
    expect(wordsOf(text).join('')).toBe(text);
  });
});
