// Verifies webhooks with what Java (17) brings along. `java Verify.java vectors.tsv` prints its verdict on each vector.
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Verify {
    static final long TOLERANCE_SECONDS = 300;
    static final Pattern PART = Pattern.compile("([a-z][a-z0-9]*)=([^\\s=]+)");

    record Signature(String t, String v1) {}

    /** Takes "t=<unix seconds>,v1=<hex>" apart; null unless there is exactly one of each. */
    static Signature parse(String header) {
        Map<String, List<String>> found = Map.of("t", new ArrayList<>(), "v1", new ArrayList<>());
        for (String part : header.split(",", -1)) {
            var match = PART.matcher(part);
            if (!match.matches()) return null;
            if (found.containsKey(match.group(1))) found.get(match.group(1)).add(match.group(2));
        }
        String t = String.join(",", found.get("t")), v1 = String.join(",", found.get("v1"));
        return t.matches("[1-9][0-9]{0,11}") && v1.matches("[0-9a-f]{64}") ? new Signature(t, v1) : null;
    }

    /** `body` is the raw bytes. `current` and `previous` are the two headers, null when absent. `now` is in seconds. */
    static String verify(byte[] body, String current, String previous, String[] secrets, long now) throws GeneralSecurityException {
        if (current == null) return "missing";
        boolean genuine = false;
        for (String header : new String[] {current, previous}) {
            if (header == null) continue;
            Signature signature = parse(header);
            if (signature == null) return "malformed";
            if (Math.abs(now - Long.parseLong(signature.t())) > TOLERANCE_SECONDS) return "stale";
            for (String secret : secrets) {
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
                mac.update((signature.t() + ".").getBytes(StandardCharsets.UTF_8));
                byte[] expected = mac.doFinal(body);
                if (MessageDigest.isEqual(expected, HexFormat.of().parseHex(signature.v1()))) genuine = true;
            }
        }
        return genuine ? "ok" : "mismatch";
    }

    public static void main(String[] arguments) throws Exception {
        int code = 0;
        List<String> lines = Files.readAllLines(Path.of(arguments[0]));
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split("\t", -1);
            String current = fields[4].isEmpty() ? null : fields[4], previous = fields[5].isEmpty() ? null : fields[5];
            String got = verify(Base64.getDecoder().decode(fields[6]), current, previous, fields[3].split(" "), Long.parseLong(fields[2]));
            System.out.printf("%-10s %s%n", got, fields[0]);
            if (!got.equals(fields[1])) code = 1;
        }
        System.exit(code);
    }
}
