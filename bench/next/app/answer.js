// The same bytes as the upstream's answer; Next bundles its routes, so they come by the environment.
export const CHAT_ANSWER = process.env.BENCH_ANSWER ?? '';
export const UPSTREAM = process.env.BENCH_UPSTREAM ?? 'http://127.0.0.1:9/chat';
export const AUTHORIZATION = `Bearer ${'t'.repeat(600)}`;
