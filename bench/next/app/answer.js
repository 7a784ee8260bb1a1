// The bytes of the upstream's response. Next bundles its routes, so they come through the environment.
export const CHAT_ANSWER = process.env.BENCH_ANSWER ?? '';
export const UPSTREAM = process.env.BENCH_UPSTREAM ?? 'http://127.0.0.1:9/chat';
export const AUTHORIZATION = `Bearer ${'t'.repeat(600)}`;
