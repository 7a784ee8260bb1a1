/** Both values: at once when both are at hand, else when both are there. A hit in memory waits for nothing. */
export function gathered<First, Second>(
  first: First | Promise<First>,
  second: Second | Promise<Second>,
): readonly [First, Second] | Promise<readonly [First, Second]> {
  return first instanceof Promise || second instanceof Promise ? Promise.all([first, second]) : [first, second];
}
