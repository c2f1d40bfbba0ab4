/** Keeps the images that a model remembers within bounds: the newest stay, the others are left as words. */
import type { ModelMessage, UserModelMessage } from 'ai';
import { type Conversation, wordsOf } from './conversation.js';
import { IMAGES_KEPT_MAX, IMAGES_KEPT_MAX_CHARACTERS } from './limits.js';
import { isImageValue, withWords } from './sight.js';

export function withNewestImages(conversation: Conversation): Conversation {
  const budget = new ImageBudget();
  let isChanged = false;
  const exchanges = conversation.exchanges.toReversed().map((exchange) => {
    const messages = exchange.messages.toReversed().map((message) => fitted(message, budget));
    isChanged ||= messages.some((message, index) => message !== exchange.messages.at(-1 - index));
    return { ...exchange, messages: messages.reverse() };
  });
  return isChanged ? { ...conversation, exchanges: exchanges.reverse() } : conversation;
}

class ImageBudget {
  #images = IMAGES_KEPT_MAX;
  #characters = IMAGES_KEPT_MAX_CHARACTERS;

  /** Once something did not fit, nothing older does. */
  spend(sizes: readonly number[]): boolean {
    if (sizes.length === 0) return true;
    this.#images -= sizes.length;
    this.#characters -= sizes.reduce((sum, size) => sum + size, 0);
    return this.#images >= 0 && this.#characters >= 0;
  }
}

function fitted(message: ModelMessage, budget: ImageBudget): ModelMessage {
  if (message.role === 'user') return budget.spend(sizesOf(message)) ? message : withoutImages(message);
  if (message.role !== 'tool') return message;
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
    return budget.spend(part.output.value.filter(isImageValue).map(({ data }) => data.length)) ? part : withWords(part);
  });
  return content.every((part, index) => part === message.content[index]) ? message : { ...message, content };
}

function sizesOf({ content }: UserModelMessage): number[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) => (part.type === 'image' ? String(part.image).length : []));
}

function withoutImages(message: UserModelMessage): UserModelMessage {
  return { ...message, content: `${wordsOf(message)}\n[Images that came with this were left out for room.]` };
}
