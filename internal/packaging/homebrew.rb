class Readthru < Formula
  desc "Caching forward proxy that gives agents the web as markdown"
  homepage "{{.Home}}"
  license "Apache-2.0"
  version "{{.Version}}"

  on_macos do
    on_arm do
      url "{{.At}}readthru-darwin-arm64.tar.gz"
      sha256 "{{index .Sums "readthru-darwin-arm64.tar.gz"}}"
    end
    on_intel do
      url "{{.At}}readthru-darwin-amd64.tar.gz"
      sha256 "{{index .Sums "readthru-darwin-amd64.tar.gz"}}"
    end
  end
  on_linux do
    on_arm do
      url "{{.At}}readthru-linux-arm64.tar.gz"
      sha256 "{{index .Sums "readthru-linux-arm64.tar.gz"}}"
    end
    on_intel do
      url "{{.At}}readthru-linux-amd64.tar.gz"
      sha256 "{{index .Sums "readthru-linux-amd64.tar.gz"}}"
    end
  end

  def install
    bin.install "readthru"
    man1.install "readthru.1"
    bash_completion.install "completions/readthru.bash" => "readthru"
    zsh_completion.install "completions/_readthru"
    fish_completion.install "completions/readthru.fish"
  end

  service do
    run [opt_bin/"readthru", "serve"]
    keep_alive crashed: true
    log_path var/"log/readthru.log"
    error_log_path var/"log/readthru.log"
  end

  test do
    (testpath/"page.html").write "<title>One</title><p>Two words"
    assert_match "Two words", shell_output("#{bin}/readthru convert #{testpath}/page.html")
  end
end
