/** Which models can see, told by their names: servers do not say it, and an image for one that cannot fails the request. */

/** Families whose models of text and images carry no mark in their names. */
const FAMILIES = [
  /claude-(?:3|4|5|opus|sonnet|haiku)/,
  /gpt-(?:4o|4\.1|4\.5|[5-9])/,
  /gemini-/,
  /gemma-?(?:3n|[34](?!:270m|:1b|-270m|-1b))/,
  /llama-?4/,
  /mistral-(?:small-?3\.|medium-3|large-3)/,
  /pixtral|llava|bakllava|moondream|minicpm-?v|internvl|molmo|smolvlm|idefics/,
];

/** Marks that builders put into a name. */
const MARKS = /(?:^|[^a-z])(?:vision|vlm?|omni|multimodal)(?:[^a-z]|$)/;

/** Names that look alike and belong to models that cannot. */
const BLIND = /gpt-oss|-audio|-realtime|-transcribe|-tts|text-only/;

export function isKnownToSee(id: string): boolean {
  const name = id.toLowerCase();
  if (BLIND.test(name)) return false;
  return MARKS.test(name) || FAMILIES.some((family) => family.test(name));
}
