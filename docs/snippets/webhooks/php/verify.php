<?php
// Verifies webhooks with what PHP brings along. `php verify.php vectors.tsv` prints its verdict on each vector.
declare(strict_types=1);

const TOLERANCE_SECONDS = 300;

/** Takes "t=<unix seconds>,v1=<hex>" apart; null unless there is exactly one of each. */
function parse(string $header): ?array
{
    $found = ['t' => [], 'v1' => []];
    foreach (explode(',', $header) as $part) {
        if (preg_match('/^([a-z][a-z0-9]*)=([^\s=]+)$/D', $part, $match) !== 1) {
            return null;
        }
        $found[$match[1]][] = $match[2];
    }
    [$t, $v1] = [implode(',', $found['t']), implode(',', $found['v1'])];
    if (preg_match('/^[1-9][0-9]{0,11}$/D', $t) !== 1 || preg_match('/^[0-9a-f]{64}$/D', $v1) !== 1) {
        return null;
    }
    return ['t' => $t, 'v1' => $v1];
}

/** $body is the raw bytes. $current and $previous are the two headers, null when absent. $now is in seconds. */
function verify(string $body, ?string $current, ?string $previous, array $secrets, int $now): string
{
    if ($current === null) {
        return 'missing';
    }
    $genuine = false;
    foreach ([$current, $previous] as $header) {
        if ($header === null) {
            continue;
        }
        $signature = parse($header);
        if ($signature === null) {
            return 'malformed';
        }
        if (abs($now - (int) $signature['t']) > TOLERANCE_SECONDS) {
            return 'stale';
        }
        foreach ($secrets as $secret) {
            $expected = hash_hmac('sha256', $signature['t'] . '.' . $body, $secret);
            if (hash_equals($expected, $signature['v1'])) {
                $genuine = true;
            }
        }
    }
    return $genuine ? 'ok' : 'mismatch';
}

$code = 0;
foreach (array_slice(file($argv[1], FILE_IGNORE_NEW_LINES), 1) as $line) {
    [$name, $verdict, $now, $secrets, $current, $previous, $body] = explode("\t", $line);
    $got = verify(base64_decode($body), $current === '' ? null : $current, $previous === '' ? null : $previous, explode(' ', $secrets), (int) $now);
    printf("%-10s %s\n", $got, $name);
    if ($got !== $verdict) {
        $code = 1;
    }
}
exit($code);
