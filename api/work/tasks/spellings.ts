/** Says in the document which spellings a normalization accepts; `_` stands for a hyphen too. */
export const buildSpellings = (values: readonly string[]) => {
  const anyCase = (value: string) =>
    value.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`).replaceAll('_', '[_-]');
  return {
    override: {
      // What is derived would still allow the enum alone.
      enum: undefined as unknown as string[],
      anyOf: [
        { type: 'string' as const, enum: [...values] },
        { type: 'string' as const, pattern: `^(${values.map(anyCase).join('|')})$` },
      ],
      description: `${values.map((value) => `\`${value}\``).join(', ')}; in any case, also with hyphens`,
    },
  };
};
