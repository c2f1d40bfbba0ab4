/** Something that a test waits for until it is given. */
export interface Signal {
  readonly given: Promise<void>;
  give(): void;
}

export function signal(): Signal {
  let give = (): void => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}
