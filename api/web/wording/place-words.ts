/** What a step of a place must not look like without quotes: the number of an item, several steps, or a line that is no argument. */
const CLAIMS = /^(#|claimed |definition of the tool$)|·/;

const wordStep = (step: string): string => {
  const item = /^\[(\d+)\]$/.exec(step);
  if (item) return `#${Number(item[1]) + 1}`;
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
  return CLAIMS.test(name) ? JSON.stringify(name) : name;
};

/** Returns the place of an argument in words: "customer · notify" of "/customer/notify", "lines · #1 · sku" of an item. No two places read alike. */
export const wordPlace = (place: string): string => place.split('/').slice(1).map(wordStep).join(' · ');
